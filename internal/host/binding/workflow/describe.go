package workflow

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// listedInstance is an instance in the API. Times are absent when they have not come.
type listedInstance struct {
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Created string          `json:"created_at"`
	Updated string          `json:"updated_at"`
	Started string          `json:"started_at,omitempty"`
	Ended   string          `json:"ended_at,omitempty"`
	Wake    string          `json:"next_run_at,omitempty"`
	Step    string          `json:"current_step,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
}

// described is an instance with its steps.
type described struct {
	listedInstance

	Params json.RawMessage `json:"params"`
	Events int64           `json:"pending_events"`
	Steps  []listedStep    `json:"steps"`
}

// listedStep is a step in the API.
type listedStep struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Count    int64           `json:"count"`
	State    string          `json:"state"`
	Started  string          `json:"started_at"`
	Ended    string          `json:"ended_at,omitempty"`
	Due      string          `json:"due_at,omitempty"`
	Event    string          `json:"event,omitempty"`
	Attempts int64           `json:"attempts"`
	Failures []listedFailure `json:"failures"`
	Error    json.RawMessage `json:"error,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Bytes    int64           `json:"output_bytes"`
}

// listedFailure is an attempt that failed.
type listedFailure struct {
	Attempt int64           `json:"attempt"`
	Started string          `json:"started_at"`
	Ended   string          `json:"ended_at"`
	Error   json.RawMessage `json:"error"`
}

// What an answer holds of outputs, in bytes. Larger outputs are left out.
const (
	maxShown    = 64 << 10
	maxShownAll = 8 << 20
)

const sqlInstance = `SELECT id, name, status, created, updated, started, ended, wake, error, output, params,
	(SELECT name FROM step WHERE step.instance = instance.id ORDER BY ord DESC LIMIT 1) FROM instance
	WHERE workflow = ?1 AND (expires IS NULL OR expires > ?2)`

// at is a column with a time; "" for NULL.
func at(s *raw.Stmt, column int) string {
	if s.IsNull(column) {
		return ""
	}
	return isoTime(s.Int64(column))
}

// readInstance reads a row of sqlInstance.
func readInstance(s *raw.Stmt) (id int64, i listedInstance) {
	i = listedInstance{
		ID: s.Text(1), Status: s.Text(2), Created: at(s, 3), Updated: at(s, 4), Started: at(s, 5), Ended: at(s, 6), Wake: at(s, 7),
		Error: json.RawMessage(s.Text(8)), Step: s.Text(11),
	}
	if n := len(s.View(9)); n > 0 && n <= maxShown {
		i.Output = toPlain(json.RawMessage(s.Text(9)))
	}
	return s.Int64(0), i
}

// page gives up to limit instances, newest first, that were created before the one with the
// number before, "" for all, and their numbers.
func (e *engine) page(ctx context.Context, status, before string, limit int) (found []listedInstance, ids []int64, err error) {
	last := int64(math.MaxInt64)
	if before != "" {
		if last, err = strconv.ParseInt(before, 10, 64); err != nil {
			return nil, nil, err
		}
	}
	text, args := sqlInstance+` AND id < ?3 ORDER BY id DESC LIMIT ?4`, []any{e.name, now(), last, limit}
	if status != "" {
		text, args = sqlInstance+` AND id < ?3 AND status = ?5 ORDER BY id DESC LIMIT ?4`, append(args, status)
	}
	err = e.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(text, args, func(s *raw.Stmt) error {
			id, i := readInstance(s)
			ids, found = append(ids, id), append(found, i)
			return nil
		})
	})
	return found, ids, err
}

// describe gives an instance with its steps, in the order they began.
func (e *engine) describe(ctx context.Context, name string) (d described, err error) {
	d.Steps = []listedStep{}
	err = e.db.Read(ctx, func(c *raw.Conn) error {
		var id int64
		err := c.Query(sqlInstance+` AND name = ?3`, []any{e.name, now(), name}, func(s *raw.Stmt) error {
			id, d.listedInstance = readInstance(s)
			d.Params = toPlain(json.RawMessage(s.Text(10)))
			return nil
		})
		if err != nil || id == 0 {
			return firstError(err, errNotFound())
		}
		if err := c.Query(`SELECT count(*) FROM event WHERE instance = ?1`, []any{id}, func(s *raw.Stmt) error { d.Events = s.Int64(0); return nil }); err != nil {
			return err
		}
		room := maxShownAll
		return c.Query(`SELECT name, type, count, state, began, ended, due, event, attempts, failures, error, value, hidden FROM step
			WHERE instance = ?1 ORDER BY ord`, []any{id}, func(s *raw.Stmt) error {
			d.Steps = append(d.Steps, readStep(s, &room))
			return nil
		})
	})
	return d, err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func readStep(s *raw.Stmt, room *int) listedStep {
	step := listedStep{
		Name: s.Text(0), Type: s.Text(1), Count: s.Int64(2), State: s.Text(3), Started: at(s, 4), Ended: at(s, 5), Event: s.Text(7),
		Attempts: s.Int64(8), Failures: failures(s.Text(9)), Error: json.RawMessage(s.Text(10)), Bytes: int64(len(s.View(11))),
	}
	if step.State == stepWaiting {
		step.Due = at(s, 6)
	}
	switch n := len(s.View(11)); {
	case n == 0:
	case s.Int64(12) != 0:
		step.Output = json.RawMessage(`"[REDACTED]"`)
	case n <= maxShown && n <= *room:
		*room -= n
		step.Output = toPlain(json.RawMessage(s.Text(11)))
	}
	return step
}

// failures reads the failures of a step.
func failures(text string) []listedFailure {
	var stored []struct {
		Attempt int64           `json:"attempt"`
		Started int64           `json:"started_at"`
		Ended   int64           `json:"ended_at"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(text), &stored) != nil { // "" for a step that never failed
		return []listedFailure{}
	}
	list := make([]listedFailure, len(stored))
	for i, f := range stored {
		list[i] = listedFailure{f.Attempt, isoTime(f.Started), isoTime(f.Ended), f.Error}
	}
	return list
}
