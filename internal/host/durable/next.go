package durable

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// NextAlarm returns when the next alarm of an object is due; the zero time for none, and for a
// version that was handed over. It captures what workerd, which may be gone, committed last.
func (k *Keeper) NextAlarm(ctx context.Context) (next time.Time, err error) {
	if k.cfg.HandedOver {
		return next, nil
	}
	k.mu.Lock()
	_, _ = k.capture(ctx) // it saves what it can: to pause a workerd that is gone fails
	k.mu.Unlock()
	return k.nextAlarm(ctx)
}

// Alarms counts the alarms in the rows: those that a workerd which starts now would run.
func (k *Keeper) Alarms(ctx context.Context) (n int, err error) {
	err = k.eachAlarms(ctx, func(path string) error {
		of, err := countAlarms(path)
		n += of
		return err
	})
	return n, err
}

// nextAlarm is the next one in the rows.
func (k *Keeper) nextAlarm(ctx context.Context) (next time.Time, err error) {
	err = k.eachAlarms(ctx, func(path string) error {
		at, err := readAlarm(path)
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
		return err
	})
	return next, err
}

// eachAlarms calls do with a copy of the alarms of each class.
func (k *Keeper) eachAlarms(ctx context.Context, do func(path string) error) error {
	for _, key := range k.cfg.Keys {
		if err := k.alarmsOf(ctx, key, do); err != nil {
			return fmt.Errorf("reading the alarms of %s: %w", key, err)
		}
	}
	return nil
}

// alarmsOf calls do with a copy of the alarms in the rows of a class, unless it has none.
func (k *Keeper) alarmsOf(ctx context.Context, class string, do func(path string) error) error {
	var pages map[uint32][]byte
	err := k.db.Read(ctx, func(c *raw.Conn) (err error) {
		pages, err = loadAlarms(c, class)
		return err
	})
	if err != nil || len(pages) == 0 {
		return err
	}
	return withImage(pages, do)
}

// loadAlarms is the alarms of a class; nil without any rows.
func loadAlarms(c *raw.Conn, class string) (pages map[uint32][]byte, err error) {
	r := row{class: class, name: metadata}
	err = c.Query(`SELECT id, pages FROM durable_object WHERE class = ?1 AND name = ?2`, []any{class, metadata}, func(s *raw.Stmt) error {
		r.id, r.pages = s.Int64(0), uint32(s.Int64(1)) //nolint:gosec // as stored
		return nil
	})
	if err != nil || r.id == 0 {
		return nil, err
	}
	return load(c, r)
}

// withImage calls do with a file that has these pages.
func withImage(pages map[uint32][]byte, do func(path string) error) (err error) {
	dir, err := os.MkdirTemp("", "alarms-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	image := make([]byte, 0, len(pages)*pageSize)
	for number := uint32(1); number <= uint32(len(pages)); number++ { //nolint:gosec // few
		image = append(image, pages[number]...)
	}
	path := filepath.Join(dir, metadata+suffix)
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return err
	}
	return do(path)
}

// readAlarm returns the first alarm in a file that no process changes.
func readAlarm(path string) (at time.Time, err error) {
	return at, ofAlarms(path, `SELECT coalesce(min(scheduled_time), 0) FROM _cf_ALARM`, func(s *raw.Stmt) error {
		if nanos := s.Int64(0); nanos != 0 {
			at = time.Unix(0, nanos)
		}
		return nil
	})
}

func countAlarms(path string) (n int, err error) {
	return n, ofAlarms(path, `SELECT count(*) FROM _cf_ALARM`, func(s *raw.Stmt) error {
		n = int(s.Int64(0))
		return nil
	})
}

// ofAlarms runs a query on a file of alarms that no process changes, unless none was ever set there.
func ofAlarms(path, query string, row func(*raw.Stmt) error) error {
	c, err := raw.Open(path, raw.Options{Immutable: true})
	if err != nil {
		return err
	}
	defer c.Close()
	table := false
	err = c.Query(`SELECT 1 FROM sqlite_schema WHERE name = '_cf_ALARM'`, nil, func(*raw.Stmt) error {
		table = true
		return nil
	})
	if err != nil || !table {
		return err
	}
	return c.Query(query, nil, row)
}
