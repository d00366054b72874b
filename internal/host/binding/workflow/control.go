package workflow

import (
	"context"
	"encoding/json"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// change runs f on an instance in one transaction. The function that f returns is called
// after it.
func (e *engine) change(ctx context.Context, name string, f func(*raw.Conn, instance) (then func(), err error)) error {
	var after func()
	err := e.db.Write(ctx, func(c *raw.Conn) error {
		var d *drive
		over := false
		err := c.InTx("BEGIN IMMEDIATE", func() error {
			i, err := e.lookup(c, name)
			if err == nil {
				if d = e.of(i.id); d != nil {
					over = d.over
				}
				after, err = f(c, i)
			}
			return err
		})
		if err != nil && d != nil {
			d.over = over // it was not cut off
		}
		return err
	})
	if err != nil {
		return err
	}
	if after != nil {
		after()
	}
	e.changed()
	e.wakeUp()
	return nil
}

// pause stops an instance after the step under way. One that is finished or paused is not
// changed.
func (e *engine) pause(ctx context.Context, name string) error {
	return e.change(ctx, name, func(c *raw.Conn, i instance) (func(), error) {
		d := e.of(i.id)
		switch {
		case i.status == running && d != nil && !d.over:
			return d.askToStop, c.Exec(`UPDATE instance SET status = 'waitingForPause', updated = ?2 WHERE id = ?1`, i.id, now())
		case i.status == running, i.status == queued, i.status == waiting:
			return nil, c.Exec(`UPDATE instance SET status = 'paused', wake = NULL, paused = ?2, updated = ?2 WHERE id = ?1`, i.id, now())
		}
		return nil, nil
	})
}

// resume continues an instance. Its waits have the time left that they had.
func (e *engine) resume(ctx context.Context, name string) error {
	return e.change(ctx, name, func(c *raw.Conn, i instance) (func(), error) {
		at := now()
		switch i.status {
		case waitingForPause: // its run ends all the same, and another one begins
			return nil, c.Exec(`UPDATE instance SET status = 'running', updated = ?2 WHERE id = ?1`, i.id, at)
		case paused:
			if err := c.Exec(`UPDATE step SET due = due + ?2 WHERE instance = ?1 AND state = 'waiting'`, i.id, at-i.paused); err != nil {
				return nil, err
			}
			return nil, c.Exec(`UPDATE instance SET status = 'queued', wake = ?2, paused = NULL, updated = ?2 WHERE id = ?1`, i.id, at)
		}
		return nil, refuse(conflict, "instance.cannot_resume", "Cannot resume instance with status %q", i.status)
	})
}

// terminate ends an instance, and the step under way.
func (e *engine) terminate(ctx context.Context, name string) error {
	return e.change(ctx, name, func(c *raw.Conn, i instance) (func(), error) {
		if isFinal(i.status) {
			return nil, refuse(conflict, "instance.cannot_terminate", "Cannot terminate instance since its on a finite state")
		}
		return e.cutOff(i), finish(c, i.id, terminated, nil, nil)
	})
}

// cutOff ends the run of an instance, which stores nothing more. The rest of the run is ended
// by the function that it returns.
func (e *engine) cutOff(i instance) func() {
	d := e.of(i.id)
	if d == nil {
		return nil
	}
	d.over = true
	return func() {
		d.forget()
		d.cancel()
	}
}

// position is a step by what names it.
type position struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// restart begins an instance anew, or from a step on.
func (e *engine) restart(ctx context.Context, name string, from *position) error {
	return e.change(ctx, name, func(c *raw.Conn, i instance) (func(), error) {
		first, err := e.firstStep(c, i.id, from)
		if err != nil {
			return nil, err
		}
		if err := c.Exec(`DELETE FROM step WHERE instance = ?1 AND ord >= ?2`, i.id, first); err != nil {
			return nil, err
		}
		if err := c.Exec(`DELETE FROM event WHERE instance = ?1`, i.id); err != nil {
			return nil, err
		}
		return e.cutOff(i), c.Exec(`UPDATE instance SET status = 'queued', wake = ?2, updated = ?2, started = NULL, ended = NULL, paused = NULL, crashes = 0,
			expires = NULL, error = NULL, output = NULL WHERE id = ?1`, i.id, now())
	})
}

// firstStep is the number of the first step that a restart forgets.
func (*engine) firstStep(c *raw.Conn, instance int64, from *position) (ord int64, err error) {
	if from == nil {
		return 0, nil
	}
	err = c.Query(`SELECT ord FROM step WHERE instance = ?1 AND type = ?2 AND name = ?3 AND count = ?4`, []any{instance, from.Type, from.Name, from.Count}, func(s *raw.Stmt) error {
		ord = s.Int64(0)
		return nil
	})
	if err == nil && ord == 0 {
		err = refuse(conflict, "instance.cannot_restart", "Step %q not found in execution history", from.Name)
	}
	return ord, err
}

// remove deletes an instance.
func (e *engine) remove(ctx context.Context, name string) error {
	return e.change(ctx, name, func(c *raw.Conn, i instance) (func(), error) {
		return e.cutOff(i), c.Exec(`DELETE FROM instance WHERE id = ?1`, i.id)
	})
}

// sendEvent gives an event to the first step that waits for its type, or keeps it. A finished
// instance takes none.
func (e *engine) sendEvent(ctx context.Context, name, kind string, payload json.RawMessage) error {
	return e.change(ctx, name, func(c *raw.Conn, i instance) (func(), error) {
		if isFinal(i.status) {
			return nil, nil
		}
		var key string
		err := c.Query(`SELECT key FROM step WHERE instance = ?1 AND state = 'waiting' AND type = 'waitForEvent' AND event = ?2 AND due > ?3 ORDER BY ord LIMIT 1`,
			[]any{i.id, kind, now()}, func(s *raw.Stmt) error { key = s.Text(0); return nil })
		if err != nil {
			return nil, err
		}
		if key == "" {
			return nil, c.Exec(`INSERT INTO event (instance, type, at, payload) VALUES (?1, ?2, ?3, ?4)`, i.id, kind, now(), string(payload))
		}
		if err := arrive(c, i.id, key, eventValue(kind, string(payload), now())); err != nil {
			return nil, err
		}
		if d := e.of(i.id); d != nil && !d.over {
			return func() { d.change(func() {}) }, nil
		}
		return nil, c.Exec(`UPDATE instance SET wake = ?2 WHERE id = ?1 AND status = 'waiting'`, i.id, now())
	})
}
