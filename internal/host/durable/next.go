package durable

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// NextAlarm returns when the next alarm of an object is due; the zero time for none. It
// captures what workerd, which may be gone, committed last.
func (k *Keeper) NextAlarm(ctx context.Context) (next time.Time, err error) {
	k.mu.Lock()
	_, _ = k.capture(ctx) // it saves what it can: to pause a workerd that is gone fails
	k.mu.Unlock()
	return k.nextAlarm(ctx)
}

// nextAlarm is the next one in the rows.
func (k *Keeper) nextAlarm(ctx context.Context) (next time.Time, err error) {
	for _, key := range k.cfg.Keys {
		rows, err := query(ctx, k.db, sqlFamily, key, metadata)
		if err != nil {
			return next, err
		}
		for _, r := range rows {
			at, err := k.firstAlarm(ctx, r)
			if err != nil {
				return next, fmt.Errorf("reading the alarms of %s: %w", r.class, err)
			}
			if next.IsZero() || !at.IsZero() && at.Before(next) {
				next = at
			}
		}
	}
	return next, nil
}

// firstAlarm returns the first alarm of a class from the copy of workerd's file in the rows.
func (k *Keeper) firstAlarm(ctx context.Context, r row) (at time.Time, err error) {
	var pages map[uint32][]byte
	err = k.db.Read(ctx, func(c *raw.Conn) (err error) {
		pages, err = load(c, r)
		return err
	})
	if err != nil {
		return at, err
	}
	file, err := os.CreateTemp("", "alarms-*")
	if err != nil {
		return at, err
	}
	defer os.Remove(file.Name())
	for number := uint32(1); number <= r.pages && err == nil; number++ {
		_, err = file.Write(pages[number])
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return at, err
	}
	return readAlarm(file.Name())
}

// readAlarm returns the first alarm in a file that no process changes.
func readAlarm(path string) (at time.Time, err error) {
	c, err := raw.Open(path, raw.Options{Immutable: true})
	if err != nil {
		return at, err
	}
	defer c.Close()
	table := false
	err = c.Query(`SELECT 1 FROM sqlite_schema WHERE name = '_cf_ALARM'`, nil, func(*raw.Stmt) error {
		table = true
		return nil
	})
	if err != nil || !table {
		return at, err
	}
	err = c.Query(`SELECT coalesce(min(scheduled_time), 0) FROM _cf_ALARM`, nil, func(s *raw.Stmt) error {
		if nanos := s.Int64(0); nanos != 0 {
			at = time.Unix(0, nanos)
		}
		return nil
	})
	return at, err
}
