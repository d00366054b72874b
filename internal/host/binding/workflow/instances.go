package workflow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

const retention = 30 * 24 * time.Hour

// newInstance is an instance to create.
type newInstance struct {
	ID      string          `json:"id"`
	Params  json.RawMessage `json:"params"`
	Success int64           `json:"success"` // retention in ms; 0 for the default
	Error   int64           `json:"error"`
}

// refused is an instance that was not created.
type refused struct {
	Index int    `json:"index"`
	ID    string `json:"id"`
	Twice bool   `json:"twice,omitempty"` // in the same call
}

// create creates instances, and begins those that have a place.
func (e *engine) create(ctx context.Context, list []newInstance) (created []string, bad []refused, err error) {
	var begins []begun
	err = e.beginIn(ctx, func(c *raw.Conn) ([]begun, error) {
		if err := c.Exec(sqlSweep, now(), sweepAtCreate); err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for i, n := range list {
			b, exists, err := e.insert(c, n)
			switch {
			case err != nil:
				return begins, err
			case exists:
				bad = append(bad, refused{i, n.ID, seen[n.ID]})
			default:
				created = append(created, n.ID)
			}
			if b.drive != nil {
				begins = append(begins, b)
			}
			seen[n.ID] = true
		}
		return begins, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(begins) < len(created) {
		e.wakeUp()
	}
	return created, bad, nil
}

// insert creates one instance. It runs if there is a place for it.
func (e *engine) insert(c *raw.Conn, n newInstance) (b begun, exists bool, err error) {
	if len(n.Params) == 0 {
		n.Params = json.RawMessage("{}")
	}
	at := now()
	if err := c.Exec(`DELETE FROM instance WHERE workflow = ?1 AND name = ?2 AND expires <= ?3`, e.name, n.ID, at); err != nil {
		return b, false, err
	}
	before := c.TotalChanges()
	err = c.Exec(`INSERT INTO instance (workflow, name, status, wake, created, updated, keep_ok, keep_fail, params)
		VALUES (?1, ?2, 'queued', ?3, ?3, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING`,
		e.name, n.ID, at, keep(n.Success), keep(n.Error), string(n.Params))
	if err != nil || c.TotalChanges() == before {
		return b, err == nil, err
	}
	id := c.LastInsertRowID()
	d := e.enter(id, n.ID)
	if d == nil {
		return b, false, nil
	}
	b = begun{d, job{Drive: d.token, Workflow: e.name, ID: n.ID, Created: at, Params: n.Params, Steps: []storedStep{}}}
	return b, false, c.Exec(`UPDATE instance SET status = 'running', wake = NULL, started = ?2 WHERE id = ?1`, id, at)
}

func keep(ms int64) int64 {
	if ms > 0 {
		return ms
	}
	return retention.Milliseconds()
}

// instance is what decides what can be done with an instance.
type instance struct {
	id     int64
	status string
	paused int64
}

// lookup finds an instance by its name.
func (e *engine) lookup(c *raw.Conn, name string) (i instance, err error) {
	err = c.Query(`SELECT id, status, paused FROM instance WHERE workflow = ?1 AND name = ?2 AND (expires IS NULL OR expires > ?3)`, []any{e.name, name, now()}, func(s *raw.Stmt) error {
		i = instance{s.Int64(0), s.Text(1), s.Int64(2)}
		return nil
	})
	if err == nil && i.id == 0 {
		err = errNotFound()
	}
	return i, err
}

// state is what a worker sees of an instance.
type state struct {
	Status string          `json:"status"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// status reads the state of an instance.
func (e *engine) status(ctx context.Context, name string) (st state, err error) {
	err = e.db.Read(ctx, func(c *raw.Conn) error {
		err := c.Query(`SELECT status, output, error FROM instance WHERE workflow = ?1 AND name = ?2 AND (expires IS NULL OR expires > ?3)`, []any{e.name, name, now()}, func(s *raw.Stmt) error {
			st = state{s.Text(0), json.RawMessage(s.Text(1)), json.RawMessage(s.Text(2))}
			return nil
		})
		if err == nil && st.Status == "" {
			err = errNotFound()
		}
		return err
	})
	return st, err
}

// counts counts the instances by state.
func (e *engine) counts(ctx context.Context) (map[string]int64, error) {
	n := make(map[string]int64, len(states()))
	for _, s := range states() {
		n[s] = 0
	}
	return n, e.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT status, count(*) FROM instance WHERE workflow = ?1 AND (expires IS NULL OR expires > ?2) GROUP BY status`, []any{e.name, now()}, func(s *raw.Stmt) error {
			n[s.Text(0)] = s.Int64(1)
			return nil
		})
	})
}
