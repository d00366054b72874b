package database

import (
	"bytes"
	"context"
	"fmt"
	"os"
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
	x := &execution{c: c, out: out, format: f, before: *d.last.Load()}
	if out != nil {
		x.most = out.Len() + maxAnswer
	}
	return x
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
