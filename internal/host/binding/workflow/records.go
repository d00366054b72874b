package workflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// record is what a run stores.
type record struct {
	Op string `json:"op"`

	// Of a step.
	Key     string          `json:"key"`
	Type    string          `json:"type"`
	Name    string          `json:"name"`
	Count   int64           `json:"count"`
	Attempt int64           `json:"attempt"`
	At      int64           `json:"at"` // when the attempt, or the wait, began
	Config  json.RawMessage `json:"config"`
	Due     int64           `json:"due"`   // of a sleep
	Delay   int64           `json:"delay"` // until another attempt, in ms
	Event   string          `json:"event"` // type to wait for
	Limit   int64           `json:"limit"` // of the wait, in ms
	Hidden  bool            `json:"hidden"`

	Value json.RawMessage `json:"value"` // of a step or the instance
	Error *stepError      `json:"error"`
	Keys  []string        `json:"keys"` // of the steps that a run waits for
}

// stored answers a run that has stored something.
type stored struct {
	Stop  bool            `json:"stop,omitempty"` // the run is to end
	State string          `json:"state,omitempty"`
	Due   int64           `json:"due,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Error json.RawMessage `json:"error,omitempty"`
}

// save stores records of a run, in one transaction.
func (d *drive) save(ctx context.Context, records []record) (s stored, err error) {
	err = d.engine.db.Write(ctx, func(c *raw.Conn) error {
		if d.over {
			return errOver
		}
		err := c.InTx("BEGIN IMMEDIATE", func() error { return d.apply(c, records, &s) })
		if err != nil {
			d.over = false // the run has not ended
		}
		return err
	})
	if err == nil && d.ended(records) {
		d.forget()
	}
	_, s.Stop = d.watch()
	return s, err
}

// ended reports whether one of the records has ended the run.
func (*drive) ended(records []record) bool {
	for _, r := range records {
		switch r.Op {
		case "complete", "errored", "suspended", "stopped":
			return true
		}
	}
	return false
}

func (d *drive) apply(c *raw.Conn, records []record, s *stored) error {
	for _, r := range records {
		if err := d.applyOne(c, r, s); err != nil {
			return fmt.Errorf("storing %q: %w", r.Op, err)
		}
	}
	if d.over {
		return nil
	}
	progress := ""
	if d.crashes > 0 && records[len(records)-1].Op != "begin" {
		d.crashes, progress = 0, ", crashes = 0"
	}
	return c.Exec(`UPDATE instance SET updated = ?2`+progress+` WHERE id = ?1`, d.instance, now())
}

func (d *drive) applyOne(c *raw.Conn, r record, s *stored) error {
	switch r.Op {
	case "begin":
		return d.step(c, r, stepRunning, ` WHERE excluded.attempts > attempts`)
	case "done":
		return d.done(c, r)
	case "retry":
		s.Due = now() + r.Delay
		return d.fail(c, r, stepWaiting, s.Due)
	case "failed":
		return d.fail(c, r, stepFailed, nil)
	case "sleep":
		return d.wait(c, r, r.Due)
	case "woken":
		return c.Exec(`UPDATE step SET state = 'done', ended = ?3 WHERE instance = ?1 AND key = ?2`, d.instance, r.Key, now())
	case "wait":
		return d.await(c, r, s)
	case "complete", "errored":
		return d.finish(c, r)
	case "suspended":
		return d.suspend(c, r.Keys)
	case "stopped":
		d.over = true
		return d.rest(c, now())
	}
	return &refusal{Name: "Error", Message: fmt.Sprintf("unknown record %q", r.Op)}
}

// text is JSON as a column takes it.
func text(j json.RawMessage) any {
	if len(j) == 0 {
		return nil
	}
	return string(j)
}

// step makes or changes the row of a step whose attempt r is.
func (d *drive) step(c *raw.Conn, r record, state, where string) error {
	d.ord++
	return c.Exec(`INSERT INTO step (instance, key, ord, type, name, count, state, attempts, began, attempt, config)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)
		ON CONFLICT (instance, key) DO UPDATE SET state = excluded.state, attempts = excluded.attempts, attempt = excluded.attempt, due = NULL`+where,
		d.instance, r.Key, d.ord, r.Type, r.Name, r.Count, state, r.Attempt, r.At, text(r.Config))
}

// done is the end of a step in one statement: most steps are stored once.
func (d *drive) done(c *raw.Conn, r record) error {
	d.ord++
	return c.Exec(`INSERT INTO step (instance, key, ord, type, name, count, state, attempts, began, attempt, config, ended, value, hidden)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'done', ?7, ?8, ?8, ?9, ?10, ?11, ?12)
		ON CONFLICT (instance, key) DO UPDATE SET state = 'done', attempts = excluded.attempts, attempt = excluded.attempt, due = NULL,
			ended = excluded.ended, value = excluded.value, hidden = excluded.hidden`,
		d.instance, r.Key, d.ord, r.Type, r.Name, r.Count, r.Attempt, r.At, text(r.Config), now(), text(r.Value), r.Hidden)
}

// fail stores an attempt that failed.
func (d *drive) fail(c *raw.Conn, r record, state string, due any) error {
	if r.Error == nil {
		r.Error = &stepError{Name: "Error"}
	}
	if err := d.step(c, r, state, ""); err != nil {
		return err
	}
	if err := c.Exec(`UPDATE step SET failures = `+sqlFailures+` WHERE instance = ?1 AND key = ?4`, d.instance, now(), errorText(*r.Error), r.Key); err != nil {
		return err
	}
	if state == stepFailed {
		return c.Exec(`UPDATE step SET ended = ?3, error = ?4 WHERE instance = ?1 AND key = ?2`, d.instance, r.Key, now(), errorText(*r.Error))
	}
	return c.Exec(`UPDATE step SET due = ?3 WHERE instance = ?1 AND key = ?2`, d.instance, r.Key, due)
}

// wait makes the row of a step that waits.
func (d *drive) wait(c *raw.Conn, r record, due int64) error {
	d.ord++
	return c.Exec(`INSERT INTO step (instance, key, ord, type, name, count, state, began, due, event, timeout)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7, ?8, nullif(?9, ''), ?10) ON CONFLICT DO NOTHING`,
		d.instance, r.Key, d.ord, r.Type, r.Name, r.Count, r.At, due, r.Event, r.Limit)
}

// await is a step that waits for an event, which may be there already.
func (d *drive) await(c *raw.Conn, r record, s *stored) error {
	s.Due = now() + r.Limit
	if err := d.wait(c, r, s.Due); err != nil {
		return err
	}
	var id int64
	err := c.Query(`SELECT id, payload, at FROM event WHERE instance = ?1 AND type = ?2 ORDER BY id LIMIT 1`, []any{d.instance, r.Event}, func(row *raw.Stmt) error {
		id, s.Value = row.Int64(0), eventValue(r.Event, row.Text(1), row.Int64(2))
		return nil
	})
	s.State = stepWaiting
	if err != nil || id == 0 {
		return err
	}
	s.State = stepDone
	if err := arrive(c, d.instance, r.Key, s.Value); err != nil {
		return err
	}
	return c.Exec(`DELETE FROM event WHERE id = ?1`, id)
}

// arrive ends the wait of a step for an event.
func arrive(c *raw.Conn, instance int64, key string, value json.RawMessage) error {
	return c.Exec(`UPDATE step SET state = 'done', ended = ?3, value = ?4 WHERE instance = ?1 AND key = ?2`, instance, key, now(), text(value))
}

// eventValue is what waitForEvent gives.
func eventValue(kind, payload string, at int64) json.RawMessage {
	return fmt.Appendf(nil, `{"type":%q,"payload":%s,"timestamp":{"$":"date","v":%d}}`, kind, payload, at)
}
