package workflow

import (
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxCrashes  = 10 // runs without progress that die one after another
	crashPause  = time.Second
	crashPauses = 5 * time.Minute // the longest pause
)

// rest is the end of a run that is to be continued at wake, or when it is resumed.
func (d *drive) rest(c *raw.Conn, wake any) error {
	return c.Exec(`UPDATE instance SET updated = ?3,
		paused = CASE status WHEN 'waitingForPause' THEN ?3 ELSE paused END,
		wake = CASE status WHEN 'waitingForPause' THEN NULL ELSE ?2 END,
		status = CASE status WHEN 'waitingForPause' THEN 'paused' ELSE status END WHERE id = ?1`, d.instance, wake, now())
}

// suspend is the end of a run that waits for the steps with these keys.
func (d *drive) suspend(c *raw.Conn, keys []string) error {
	d.over = true
	if err := c.Exec(`UPDATE instance SET status = 'waiting' WHERE id = ?1 AND status = 'running'`, d.instance); err != nil {
		return err
	}
	wake, err := nextStep(c, d.instance)
	for _, key := range keys {
		if err != nil {
			return err
		}
		err = c.Query(`SELECT 1 FROM step WHERE instance = ?1 AND key = ?2 AND state <> 'waiting'`, []any{d.instance, key}, func(*raw.Stmt) error {
			wake = now() // it has ended meanwhile
			return nil
		})
	}
	if err != nil {
		return err
	}
	return d.rest(c, wake)
}

// nextStep is when the first step that waits is due; nil for none.
func nextStep(c *raw.Conn, instance int64) (due any, err error) {
	err = c.Query(`SELECT min(due) FROM step WHERE instance = ?1 AND state = 'waiting'`, []any{instance}, func(s *raw.Stmt) error {
		if !s.IsNull(0) {
			due = s.Int64(0)
		}
		return nil
	})
	return due, err
}

// finish is the end of an instance. One that is to be paused ends when it is resumed.
func (d *drive) finish(c *raw.Conn, r record) error {
	d.over = true
	pausing := false
	err := c.Query(`SELECT 1 FROM instance WHERE id = ?1 AND status = 'waitingForPause'`, []any{d.instance}, func(*raw.Stmt) error {
		pausing = true
		return nil
	})
	if err != nil {
		return err
	}
	if pausing {
		return d.rest(c, nil)
	}
	if r.Op == "errored" && r.Error != nil {
		return finish(c, d.instance, errored, nil, errorText(*r.Error))
	}
	return finish(c, d.instance, complete, text(r.Value), nil)
}

// finish ends an instance and begins its retention.
func finish(c *raw.Conn, instance int64, status string, output, failure any) error {
	err := c.Exec(`UPDATE instance SET status = ?2, wake = NULL, paused = NULL, crashes = 0, output = ?3, error = ?4, updated = ?5, ended = ?5,
		expires = ?5 + CASE ?2 WHEN 'errored' THEN keep_fail ELSE keep_ok END WHERE id = ?1`, instance, status, output, failure, now())
	if err != nil {
		return err
	}
	return c.Exec(`DELETE FROM event WHERE instance = ?1`, instance)
}

// died is the end of a run that did not say how it ended. What it had under way has failed.
func (d *drive) died(c *raw.Conn, result svc.EventResult) error {
	d.crashes++
	if d.crashes < maxCrashes {
		if err := c.Exec(`UPDATE instance SET crashes = ?2 WHERE id = ?1`, d.instance, d.crashes); err != nil {
			return err
		}
		return d.rest(c, now()+min(crashPause<<(d.crashes-1), crashPauses).Milliseconds())
	}
	e := stepError{"WorkflowInternalError", "The runs of the Workflow instance ended without progress, the last one with the outcome " + string(result.Outcome)}
	if result.Error != nil {
		e.Message += ": " + result.Error.Message
	}
	return finish(c, d.instance, errored, nil, errorText(e))
}
