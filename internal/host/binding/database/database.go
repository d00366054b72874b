package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
)

// database is one database: an Instance.
type database struct {
	db        volume.Database
	temp      func() (*os.File, error)
	last      atomic.Pointer[totals] // after the last write, for reads to tell
	bookmarks bookmarks
	visitors  chan struct{} // holds a token for each request of the API
}

func open(ctx context.Context, db volume.Database, temp func() (*os.File, error)) (*database, error) {
	d := &database{db: db, temp: temp, visitors: make(chan struct{}, visitors)}
	err := db.Write(ctx, func(c *raw.Conn) error {
		d.last.Store(&totals{size: size(c)})
		return nil
	})
	return d, err
}

var _ binding.Migrator = (*database)(nil)

// Close leaves the file to its owner.
func (d *database) Close() error { return nil }

// run runs list as one transaction and writes the answer, a JSON array, to out.
func (d *database) run(ctx context.Context, list []query, f format, out *bytes.Buffer) error {
	for i := range list {
		list[i].SQL = cut(list[i].SQL)
	}
	list = slices.DeleteFunc(list, func(q query) bool { return q.SQL == "" })
	if len(list) == 0 {
		return errNoStatements
	}
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	if !slices.ContainsFunc(list, func(q query) bool { return !mayRead(q.SQL) }) {
		err := d.db.Read(ctx, func(c *raw.Conn) error { return d.read(c, list, f, out) })
		if !errors.Is(err, errNeedWrite) {
			return err
		}
		out.Reset()
	}
	return d.db.Write(ctx, func(c *raw.Conn) error { return d.write(c, list, f, out) })
}

// mayRead reports that text looks like it only reads.
func mayRead(text string) bool {
	switch keyword(text) {
	case "select", "values", "with", "explain":
		return true
	}
	return false
}

func (d *database) read(c *raw.Conn, list []query, f format, out *bytes.Buffer) error {
	x := d.execution(c, f, out)
	x.policy.reader = true
	if len(list) == 1 { // a statement is a transaction of its own
		return x.guarded(list)
	}
	return c.InTx("BEGIN", func() error { return x.guarded(list) })
}

func (d *database) write(c *raw.Conn, list []query, f format, out *bytes.Buffer) error {
	x := d.execution(c, f, out)
	defer x.resetSettings()
	err := c.InTx("BEGIN IMMEDIATE", func() error { return x.guarded(list) })
	if err != nil || c.TotalChanges() != x.before.changes { // full text search writes when it is committed
		d.remember(c)
		return err
	}
	d.last.Store(&x.before) // the last statement has asked, within its transaction
	return nil
}

// change runs fn, which may write, and remembers the totals after it.
func (d *database) change(c *raw.Conn, fn func() error) error {
	defer d.remember(c)
	return fn()
}

func (d *database) remember(c *raw.Conn) {
	d.last.Store(&totals{c.TotalChanges(), c.LastInsertRowID(), size(c)})
}

func (d *database) execution(c *raw.Conn, f format, out *bytes.Buffer) *execution {
	limit(c)
	return &execution{c: c, out: out, format: f, before: *d.last.Load()}
}

// bookmarks makes tokens that sort after all earlier ones, also after those of
// an earlier process. The zero value is ready.
type bookmarks struct {
	mu    sync.Mutex
	last  int64 // milliseconds since 1970
	count uint32
}

func (b *bookmarks) next() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, time.Now().UnixMilli())
	b.count++
	if b.count == 0 {
		b.last++
	}
	return fmt.Sprintf("%012x-%08x", b.last, b.count)
}
