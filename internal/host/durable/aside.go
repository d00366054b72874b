package durable

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// asideClass begins the class in the rows of alarms that are set aside: no workerd has a directory of
// that name. A plain child drops them as it drops other alarms.
const asideClass = "handed-over:"

// move is the alarms of a class that are not where they belong.
type move struct{ from, to string }

// placeAlarms sets the alarms aside when another version continues them, and puts them back when the
// version is production again. Only the times by which workerd arms its timers are moved. The record
// in each object stays: a request may change or delete the alarm of an object meanwhile, and workerd
// runs no alarm whose object does not have it, so what is put back later can do no harm. An alarm
// that such a request sets waits in workerd; the next opening sets it aside, too, and the later one of
// an object counts.
//
// Files of the alarms that are on the disk must not be believed afterwards. Rows that only this
// machine has are in the files, too, so they are shipped first; then one transaction moves the alarms
// and ends the generation of the files, so that all are made from the rows again. A process that is
// killed before or after it finds files and rows that agree.
func (k *Keeper) placeAlarms(ctx context.Context) (*Keeper, error) {
	moves, err := k.misplaced(ctx)
	if err != nil || len(moves) == 0 {
		return k, err
	}
	if err := k.db.Ship(ctx); err != nil {
		return nil, fmt.Errorf("storing durable objects before their alarms are moved: %w", err)
	}
	err = k.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			for _, m := range moves {
				if err := m.run(c); err != nil {
					return fmt.Errorf("moving the alarms of %s: %w", m.from, err)
				}
			}
			return c.Exec(`UPDATE durable_meta SET generation = ''`)
		})
	})
	if err != nil {
		return nil, err
	}
	next := newKeeper(k.cfg)
	next.background, next.db = k.background, k.db
	return next, next.restart(ctx)
}

// misplaced lists the alarms to move.
func (k *Keeper) misplaced(ctx context.Context) (moves []move, err error) {
	for _, key := range k.cfg.Keys {
		m := move{asideClass + key, key}
		if k.cfg.HandedOver {
			m = move{key, asideClass + key}
		}
		n := 0
		err := k.alarmsOf(ctx, m.from, func(path string) (err error) {
			n, err = countAlarms(path)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reading the alarms of %s: %w", m.from, err)
		}
		if n > 0 {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

// run moves the alarms, in the transaction that is open on c.
func (m move) run(c *raw.Conn) error {
	from, err := loadAlarms(c, m.from)
	if err != nil {
		return err
	}
	to, err := loadAlarms(c, m.to)
	if err != nil {
		return err
	}
	older, newer := from, to // to put back
	if m.to == asideClass+m.from {
		older, newer = to, from
	}
	all, err := merge(older, newer)
	if err == nil {
		err = save(c, m.to, metadata, all)
	}
	if err == nil {
		err = save(c, m.from, metadata, &change{})
	}
	return err
}

// merge is the alarms of two files, the newer one's where an object has both. Either may be nil.
func merge(older, newer map[uint32][]byte) (all *change, err error) {
	all = &change{count: uint32(len(newer)), pages: newer} //nolint:gosec // few
	if len(older) == 0 {
		return all, nil
	}
	return all, withImage(older, func(path string) error {
		if len(newer) > 0 {
			if err := withImage(newer, func(more string) error { return addAlarms(path, more) }); err != nil {
				return err
			}
		}
		image, err := os.ReadFile(path)
		if err == nil {
			all, err = join(image, run{}, true)
		}
		return err
	})
}

// addAlarms puts the alarms of the file more into the one at path, which has some.
func addAlarms(path, more string) (err error) {
	if n, err := countAlarms(more); err != nil || n == 0 {
		return err
	}
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }() // merges the log into the file
	if err := c.Exec(`ATTACH ?1 AS more`, more); err != nil {
		return err
	}
	return c.Exec(`INSERT OR REPLACE INTO _cf_ALARM SELECT * FROM more._cf_ALARM`)
}
