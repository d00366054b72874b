package workflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// job is what a run begins with, as engine.js reads it.
type job struct {
	Drive    string          `json:"drive"`
	Workflow string          `json:"workflow"`
	ID       string          `json:"id"`
	Created  int64           `json:"created"`
	Params   json.RawMessage `json:"params"`
	Careful  bool            `json:"careful"` // the last run died: each attempt is stored before it begins
	Steps    []storedStep    `json:"steps"`
}

// storedStep is what a run knows of a step.
type storedStep struct {
	Key         string          `json:"key"`
	State       string          `json:"state"`
	Attempts    int64           `json:"attempts,omitempty"`
	Interrupted bool            `json:"interrupted,omitempty"` // the last attempt died
	Due         int64           `json:"due,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"`
	Apart       bool            `json:"apart,omitempty"` // the value is to be asked for
	Error       json.RawMessage `json:"error,omitempty"`
}

// What a job holds of the values of steps, in bytes; a run asks for the others.
const (
	maxInJob  = 4 << 20
	maxInStep = 64 << 10
)

// begun is a run that a transaction has begun.
type begun struct {
	drive *drive
	job   job
}

// claim begins runs of instances that are due, in one transaction.
func (e *engine) claim(ctx context.Context) error {
	return e.beginIn(ctx, func(c *raw.Conn) (list []begun, err error) {
		ids, err := e.due(c)
		for _, id := range ids {
			if err != nil {
				break
			}
			var b begun
			if b, err = e.beginRun(c, id); b.drive == nil {
				break
			}
			list = append(list, b)
		}
		return list, err
	})
}

// beginIn lets the runs go that a transaction has begun, while it is written to disk: what
// a run stores comes later in the same log. With an error none goes.
func (e *engine) beginIn(ctx context.Context, begin func(*raw.Conn) ([]begun, error)) error {
	return e.db.Write(ctx, func(c *raw.Conn) error { //nolint:contextcheck // runs outlive the call
		var list []begun
		err := c.InTx("BEGIN IMMEDIATE", func() (err error) {
			list, err = begin(c)
			return err
		})
		return e.launch(list, err)
	})
}

// launch lets runs go whose transaction ended with err.
func (e *engine) launch(list []begun, err error) error {
	e.changed()
	for i, b := range list {
		var text []byte
		if err == nil {
			text, err = json.Marshal(b.job)
		}
		if err != nil {
			for _, b := range list[i:] {
				b.drive.leave()
			}
			return err
		}
		go b.drive.run(string(text))
	}
	return err
}

// due gives the instances that have waited longest.
func (e *engine) due(c *raw.Conn) (ids []int64, err error) {
	err = c.Query(`SELECT id FROM instance WHERE workflow = ?1 AND wake <= ?2 ORDER BY wake LIMIT ?3`, []any{e.name, now(), maxRuns}, func(s *raw.Stmt) error {
		ids = append(ids, s.Int64(0))
		return nil
	})
	return ids, err
}

// beginRun begins a run of an instance that is due. The drive is nil when there is no place,
// and after an error.
func (e *engine) beginRun(c *raw.Conn, id int64) (b begun, err error) {
	var crashes int64
	err = c.Query(`SELECT name, created, params, crashes FROM instance WHERE id = ?1`, []any{id}, func(s *raw.Stmt) error {
		crashes = s.Int64(3)
		b.job = job{Workflow: e.name, ID: s.Text(0), Created: s.Int64(1), Params: json.RawMessage(s.Text(2)), Careful: crashes > 0}
		return nil
	})
	if err == nil {
		err = wakeSteps(c, id)
	}
	var ord int64
	if err == nil {
		b.job.Steps, ord, err = history(c, id)
	}
	if err == nil {
		err = c.Exec(`UPDATE instance SET status = 'running', wake = NULL, started = coalesce(started, ?2), updated = ?2 WHERE id = ?1`, id, now())
	}
	if err != nil {
		return b, err
	}
	if b.drive = e.enter(id, b.job.ID); b.drive != nil {
		b.drive.crashes, b.drive.ord, b.job.Drive = crashes, ord, b.drive.token
		return b, nil
	}
	return b, c.Exec(`UPDATE instance SET wake = ?2 WHERE id = ?1`, id, now())
}

// wakeSteps ends the waits that are over.
func wakeSteps(c *raw.Conn, instance int64) error {
	err := c.Exec(`UPDATE step SET state = 'done', ended = ?2 WHERE instance = ?1 AND state = 'waiting' AND type = 'sleep' AND due <= ?2`, instance, now())
	if err != nil {
		return err
	}
	return c.Exec(`UPDATE step SET state = 'failed', ended = ?2,
		error = json_object('name', 'WorkflowTimeoutError', 'message', 'Execution timed out after ' || timeout || 'ms')
		WHERE instance = ?1 AND state = 'waiting' AND type = 'waitForEvent' AND due <= ?2`, instance, now())
}

// history is what is known of the steps of an instance, and the number of the last. Attempts
// that died are recorded as failures.
func history(c *raw.Conn, instance int64) (steps []storedStep, ord int64, err error) {
	steps = []storedStep{}
	room := maxInJob
	err = c.Query(`SELECT key, state, attempts, due, error, value, ord FROM step WHERE instance = ?1`, []any{instance}, func(s *raw.Stmt) error {
		step := storedStep{Key: s.Text(0), State: s.Text(1), Attempts: s.Int64(2), Due: s.Int64(3), Interrupted: s.Text(1) == stepRunning}
		if step.State == stepFailed {
			step.Error = json.RawMessage(s.Text(4))
		}
		switch n := len(s.View(5)); {
		case step.State != stepDone || n == 0:
		case n > maxInStep || n > room:
			step.Apart = true
		default:
			room -= n
			step.Value = json.RawMessage(s.Text(5))
		}
		ord = max(ord, s.Int64(6))
		steps = append(steps, step)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return steps, ord, c.Exec(`UPDATE step SET failures = `+sqlFailures+` WHERE instance = ?1 AND state = 'running'`, instance, now(), errorText(internalError))
}

// stepError is an exception of the worker.
type stepError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// internalError is the error of an attempt that died.
var internalError = stepError{"WorkflowInternalError", "Attempt failed due to internal workflows error"} //nolint:gochecknoglobals // a constant

func errorText(e stepError) string {
	text, err := json.Marshal(e)
	if err != nil { // two strings always encode
		return "{}"
	}
	return string(text)
}

// maxFailures is how many failures of a step are kept.
const maxFailures = 50

// sqlFailures is the failures of a step with that of its last attempt, which ended at ?2 with
// the error ?3, if there is room for it.
//
//nolint:gochecknoglobals // a constant
var sqlFailures = fmt.Sprintf(`CASE WHEN json_array_length(coalesce(failures, '[]')) >= %d THEN failures ELSE
	json_insert(coalesce(failures, '[]'), '$[#]', json_object('attempt', attempts, 'started_at', attempt, 'ended_at', ?2, 'error', json(?3))) END`, maxFailures)
