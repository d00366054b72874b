package workflow

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// schema holds all workflows. Times are milliseconds since 1970, values the JSON of value.js.
const schema = `
CREATE TABLE IF NOT EXISTS instance (
	id        INTEGER PRIMARY KEY,  -- in the order they were created
	workflow  TEXT NOT NULL,
	name      TEXT NOT NULL,        -- the worker's id
	status    TEXT NOT NULL,
	wake      INTEGER,              -- when to run; NULL while it runs, and for never
	created   INTEGER NOT NULL,
	started   INTEGER,
	updated   INTEGER NOT NULL,
	ended     INTEGER,
	paused    INTEGER,              -- since when
	crashes   INTEGER NOT NULL DEFAULT 0, -- runs that died since the last progress
	keep_ok   INTEGER NOT NULL,     -- retention
	keep_fail INTEGER NOT NULL,
	expires   INTEGER,
	error     TEXT,                 -- JSON
	params    TEXT NOT NULL,
	output    TEXT,
	UNIQUE (workflow, name)
) STRICT;
CREATE INDEX IF NOT EXISTS instance_due ON instance (workflow, wake) WHERE wake IS NOT NULL;
CREATE INDEX IF NOT EXISTS instance_status ON instance (workflow, status, expires);
CREATE INDEX IF NOT EXISTS instance_expires ON instance (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS step (
	instance INTEGER NOT NULL REFERENCES instance (id) ON DELETE CASCADE,
	key      TEXT NOT NULL,         -- type:count:name
	ord      INTEGER NOT NULL,      -- in the order they began
	type     TEXT NOT NULL,         -- do, sleep or waitForEvent
	name     TEXT NOT NULL,
	count    INTEGER NOT NULL,
	state    TEXT NOT NULL,         -- running, waiting, done or failed
	attempts INTEGER NOT NULL DEFAULT 0,
	began    INTEGER NOT NULL,      -- the first attempt
	attempt  INTEGER,               -- when the last attempt began
	ended    INTEGER,
	due      INTEGER,               -- of what waits
	timeout  INTEGER,               -- of a wait for an event
	event    TEXT,                  -- type that it waits for
	hidden   INTEGER NOT NULL DEFAULT 0, -- its output is not for people
	config   TEXT,                  -- JSON
	failures TEXT,                  -- JSON, of attempts
	error    TEXT,                  -- JSON
	value    TEXT,
	PRIMARY KEY (instance, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS event (
	id       INTEGER PRIMARY KEY,
	instance INTEGER NOT NULL REFERENCES instance (id) ON DELETE CASCADE,
	type     TEXT NOT NULL,
	at       INTEGER NOT NULL,
	payload  TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS event_type ON event (instance, type, id);`

// The states of an instance [D37].
const (
	queued          = "queued"
	running         = "running"
	waiting         = "waiting" // a sleep, an event or a retry
	paused          = "paused"
	waitingForPause = "waitingForPause" // a step under way ends first
	errored         = "errored"
	terminated      = "terminated"
	complete        = "complete"
)

// states gives all of them, in the order they are documented.
func states() []string {
	return []string{queued, running, waiting, waitingForPause, paused, complete, errored, terminated}
}

func isFinal(status string) bool {
	return status == errored || status == terminated || status == complete
}

// The states of a step.
const (
	stepRunning = "running"
	stepWaiting = "waiting"
	stepDone    = "done"
	stepFailed  = "failed"
)

const (
	sweepAtOpen   = 10_000 // expired instances that opening a workflow deletes at most
	sweepAtCreate = 20     // and creating one
)

const sqlSweep = `DELETE FROM instance WHERE id IN (SELECT id FROM instance WHERE expires <= ?1 LIMIT ?2)`

// prepare makes the tables. What ran when the last process ended has died: it is due.
func prepare(c *raw.Conn, workflow string, now int64) error {
	return c.InTx("BEGIN IMMEDIATE", func() error {
		if err := c.Script(schema); err != nil {
			return fmt.Errorf("making the tables of workflows: %w", err)
		}
		if err := c.Exec(sqlSweep, now, sweepAtOpen); err != nil {
			return err
		}
		if err := c.Exec(`UPDATE instance SET status = 'paused', paused = ?2 WHERE workflow = ?1 AND status = 'waitingForPause'`, workflow, now); err != nil {
			return err
		}
		return c.Exec(`UPDATE instance SET wake = ?2, crashes = crashes + 1 WHERE workflow = ?1 AND status = 'running' AND wake IS NULL`, workflow, now)
	})
}
