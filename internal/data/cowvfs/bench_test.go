package cowvfs_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// BenchmarkInsert measures small transactions, one after the other, on a plain file and on a
// captured one whose segments are read regularly.
func BenchmarkInsert(b *testing.B) {
	for _, sync := range []string{"NORMAL", "FULL"} {
		b.Run(sync+"/bare", func(b *testing.B) { insert(b, sync, "", nil) })
		for name, window := range map[string]time.Duration{"1s": time.Second, "100ms": 100 * time.Millisecond} {
			b.Run(sync+"/captured/"+name, func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "a.db")
				f := attach(b, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}})
				defer shipEvery(b, f, window)()
				insert(b, sync, cowvfs.Name, f)
			})
		}
	}
}

func insert(b *testing.B, sync, vfs string, f *cowvfs.File) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bare.db")
	if f != nil {
		path = f.Path()
	}
	c, err := raw.Open(path, raw.Options{VFS: vfs})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if err := c.Script(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ` + sync + `; CREATE TABLE t(id INTEGER PRIMARY KEY, k, v);`); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		run(b, c, `INSERT INTO t(k, v) VALUES ('key', zeroblob(200))`)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
}

// shipEvery reads and deletes segments once a window.
func shipEvery(b *testing.B, f *cowvfs.File, window time.Duration) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(window)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for {
				s, ok, err := f.Next()
				if err != nil {
					b.Error(err)
				}
				if !ok {
					break
				}
				if err := f.Shipped(s.TXID); err != nil {
					b.Error(err)
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

const benchRows = 33000 // of 3 KB: 100 MB

func bigBase(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "base.db")
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if err := c.Script(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t(id INTEGER PRIMARY KEY, k, v);
		WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 33000) INSERT INTO t(k, v) SELECT 'key'||i, zeroblob(3000) FROM n;
		PRAGMA wal_checkpoint(TRUNCATE);`); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkFirstQuery attaches a child of 100 MB and reads one row, from a source on the same
// disk and from one that takes 20 ms to answer.
func BenchmarkFirstQuery(b *testing.B) {
	path := bigBase(b)
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(delay.String(), func(b *testing.B) {
			src := newFileSource(b, path)
			src.slow = func(context.Context) error { time.Sleep(delay); return nil }
			for b.Loop() {
				f, err := cowvfs.Attach(b.Context(), cowvfs.Options{Path: filepath.Join(b.TempDir(), "a.db"), Source: src, Capture: &cowvfs.Capture{TXID: 1}})
				if err != nil {
					b.Fatal(err)
				}
				c, err := openWriter(f.Path())
				if err != nil {
					b.Fatal(err)
				}
				run(b, c, `SELECT v FROM t WHERE id = 17000`)
				c.Close()
				if err := f.Detach(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead reads 100 MB, as a scan and row by row, of a plain file, of one whose layer is
// still active although every page is present, and of a hydrated one.
func BenchmarkRead(b *testing.B) {
	path := bigBase(b)
	bench := func(name, path, vfs string) {
		c, err := raw.Open(path, raw.Options{VFS: vfs, ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		run(b, c, `PRAGMA cache_size = -2000`)
		run(b, c, `SELECT sum(length(v)), max(v) FROM t`)
		b.Run(name+"/scan", func(b *testing.B) {
			for b.Loop() {
				run(b, c, `SELECT max(v) FROM t`)
			}
		})
		b.Run(name+"/point", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				run(b, c, `SELECT v FROM t WHERE id = ?`, i*7919%benchRows+1)
			}
		})
	}
	bench("plain", path, "")
	f := attach(b, cowvfs.Options{Path: filepath.Join(b.TempDir(), "a.db"), Source: newFileSource(b, path)})
	bench("active", f.Path(), cowvfs.Name)
	if err := f.Hydrate(b.Context(), cowvfs.Pace{}); err != nil {
		b.Fatal(err)
	}
	bench("hydrated", f.Path(), cowvfs.Name)
}
