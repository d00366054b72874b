package cron

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// keptRuns is the number of runs that the journal keeps.
const keptRuns = 1000

// The outcomes of runs that did not end with one of svc.Outcome.
const (
	outcomeRunning     svc.Outcome = "running"
	outcomeInterrupted svc.Outcome = "interrupted" // the version's process was killed
)

// run is one run of an expression.
type run struct {
	id      int64
	cron    string
	due     time.Time
	retry   bool // of a run that was interrupted
	started time.Time
	ended   time.Time   // zero for one that did not end
	outcome svc.Outcome // "" for one that did not end
	failure string
}

// Times are milliseconds since 1970.
const schema = `
CREATE TABLE IF NOT EXISTS cron_last ( -- the last run of each expression
	cron TEXT PRIMARY KEY,
	due  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cron_run (
	id       INTEGER PRIMARY KEY,
	cron     TEXT NOT NULL,
	due      INTEGER NOT NULL,
	started  INTEGER NOT NULL,
	ended    INTEGER NOT NULL DEFAULT 0,
	outcome  TEXT NOT NULL DEFAULT '',
	failure  TEXT NOT NULL DEFAULT '',
	retry    INTEGER NOT NULL,           -- of a run that was interrupted
	no_retry INTEGER NOT NULL DEFAULT 0  -- it must not be repeated, or was
) STRICT;`

// journal records the runs of a version.
type journal struct {
	volumes volume.Volumes

	mu sync.Mutex
	db volume.Database // nil until it is needed
}

// open opens the database, once.
func (j *journal) open(ctx context.Context) (volume.Database, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.db != nil {
		return j.db, nil
	}
	db, err := j.volumes.Database(ctx, volume.OwnPrefix+"cron")
	if err == nil {
		err = db.Write(ctx, func(c *raw.Conn) error { return c.Script(schema) })
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal of cron runs: %w", err)
	}
	j.db = db
	return db, nil
}

func (j *journal) write(ctx context.Context, fn func(c *raw.Conn) error) error {
	db, err := j.open(ctx)
	if err != nil {
		return err
	}
	return db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error { return fn(c) })
	})
}

// begin records that runs begin, in one transaction. It returns those that have not begun
// before.
func (j *journal) begin(ctx context.Context, runs []run) (began []*run, err error) {
	err = j.write(ctx, func(c *raw.Conn) error {
		for i := range runs {
			r := &runs[i]
			// A later run forbids an earlier one, unless the clock was wrong by hours.
			err := c.Exec(`INSERT INTO cron_last (cron, due) VALUES (?1, ?2) ON CONFLICT (cron) DO UPDATE SET due = excluded.due
				WHERE due < excluded.due OR due > ?3`, r.cron, r.due.UnixMilli(), r.started.Add(clockError).UnixMilli())
			if err == nil && c.Changes() > 0 {
				began, err = append(began, r), insert(c, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return began, err
}

// insert adds a run, sets its id and deletes old ones.
func insert(c *raw.Conn, r *run) error {
	err := c.Exec(`INSERT INTO cron_run (cron, due, started, retry) VALUES (?1, ?2, ?3, ?4)`,
		r.cron, r.due.UnixMilli(), r.started.UnixMilli(), r.retry)
	r.id = c.LastInsertRowID()
	if err != nil {
		return err
	}
	return c.Exec(`DELETE FROM cron_run WHERE id <= ?1`, r.id-keptRuns)
}

// forbidRetry records that a run must not be repeated.
func (j *journal) forbidRetry(ctx context.Context, id int64) error {
	return j.write(ctx, func(c *raw.Conn) error {
		return c.Exec(`UPDATE cron_run SET no_retry = 1 WHERE id = ?1`, id)
	})
}

// end records how a run ended. One that ended with the worker's process may be repeated.
func (j *journal) end(ctx context.Context, r *run) error {
	return j.write(ctx, func(c *raw.Conn) error {
		return c.Exec(`UPDATE cron_run SET ended = ?2, outcome = ?3, failure = ?4 WHERE id = ?1`,
			r.id, r.ended.UnixMilli(), string(r.outcome), r.failure)
	})
}

// drop deletes a run that the worker did not see.
func (j *journal) drop(ctx context.Context, id int64) error {
	return j.write(ctx, func(c *raw.Conn) error { return c.Exec(`DELETE FROM cron_run WHERE id = ?1`, id) })
}

// interrupted returns the last run of each expression, if it began before a time, was cut
// off by the end of a process, and may be repeated. It returns each once.
func (j *journal) interrupted(ctx context.Context, before time.Time) (runs []run, err error) {
	const cutOff = ` WHERE outcome IN ('interrupted', 'exited', 'canceled') AND retry = 0 AND no_retry = 0 AND started < ?1`
	at := before.UnixMilli()
	err = j.write(ctx, func(c *raw.Conn) error {
		if err := c.Exec(`UPDATE cron_run SET outcome = ?2 WHERE outcome = '' AND started < ?1`, at, string(outcomeInterrupted)); err != nil {
			return err
		}
		if runs, err = list(c, `JOIN cron_last USING (cron, due)`+cutOff, at); err != nil {
			return err
		}
		return c.Exec(`UPDATE cron_run SET no_retry = 1`+cutOff, at)
	})
	return runs, err
}

// repeat records that a retry begins.
func (j *journal) repeat(ctx context.Context, r *run) error {
	return j.write(ctx, func(c *raw.Conn) error { return insert(c, r) })
}

// runs lists runs, newest first, before an id (0 for all).
func (j *journal) runs(ctx context.Context, before int64, limit int) (runs []run, err error) {
	return j.read(ctx, `WHERE ?1 = 0 OR id < ?1 ORDER BY id DESC LIMIT ?2`, before, limit)
}

// latest lists the newest run of each expression.
func (j *journal) latest(ctx context.Context) ([]run, error) {
	return j.read(ctx, `WHERE id IN (SELECT max(id) FROM cron_run GROUP BY cron)`)
}

func (j *journal) read(ctx context.Context, rest string, args ...any) (runs []run, err error) {
	db, err := j.open(ctx)
	if err != nil {
		return nil, err
	}
	err = db.Read(ctx, func(c *raw.Conn) error {
		runs, err = list(c, rest, args...)
		return err
	})
	return runs, err
}

func list(c *raw.Conn, rest string, args ...any) (runs []run, err error) {
	err = c.Query(`SELECT id, cron, due, started, ended, outcome, failure, retry FROM cron_run `+rest, args, func(s *raw.Stmt) error {
		r := run{
			id: s.Int64(0), cron: s.Text(1), due: timeOf(s.Int64(2)), started: timeOf(s.Int64(3)),
			outcome: svc.Outcome(s.Text(5)), failure: s.Text(6), retry: s.Int64(7) != 0,
		}
		if ended := s.Int64(4); ended != 0 {
			r.ended = timeOf(ended)
		}
		runs = append(runs, r)
		return nil
	})
	return runs, err
}

func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
