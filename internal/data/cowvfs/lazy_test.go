package cowvfs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// lazyFile attaches a file that is filled from a database of some MB.
func lazyFile(t testing.TB, o cowvfs.Options, prepare func(*fileSource)) (*cowvfs.File, *fileSource) {
	t.Helper()
	dir := t.TempDir()
	copyBase(t, filepath.Join(dir, "base.db"))
	src := newFileSource(t, filepath.Join(dir, "base.db"))
	if prepare != nil {
		prepare(src)
	}
	o.Path, o.Source = filepath.Join(dir, "a.db"), src
	return attach(t, o), src
}

func TestFirstQuery(t *testing.T) {
	t.Parallel()
	f, src := lazyFile(t, cowvfs.Options{}, nil)
	c := open(t, f.Path())
	var k string
	if err := c.Query(`SELECT k FROM t WHERE id = 1000`, nil, func(s *raw.Stmt) error { k = s.Text(0); return nil }); err != nil || k != "base1000" {
		t.Fatalf("read %q, %v", k, err)
	}
	if m := f.Missing(); m < int(src.Pages())*3/4 || f.Hydrated() {
		t.Errorf("%d of %d pages are missing after one query", m, src.Pages())
	}
	want, err := crashtest.Sound(src.f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := crashtest.Check(c); err != nil || got != want {
		t.Errorf("all of it is %s, %v, not %s", got, err, want)
	}
}

// TestHydrate makes a plain file while connections stay open.
func TestHydrate(t *testing.T) {
	t.Parallel()
	f, src := lazyFile(t, cowvfs.Options{}, nil)
	c := open(t, f.Path())
	run(t, c, `UPDATE t SET v = 'new' WHERE id % 50 = 1`)
	run(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
	stop, cancel := context.WithCancel(t.Context())
	reads := 0
	src.slow = func(context.Context) error {
		if reads++; reads == 3 {
			cancel()
		}
		return nil
	}
	if err := f.Hydrate(stop, cowvfs.Pace{Pages: 10, Pause: time.Microsecond}); !errors.Is(err, context.Canceled) || f.Hydrated() {
		t.Fatalf("a canceled hydration: %v", err)
	}
	if err := f.Hydrate(t.Context(), cowvfs.Pace{}); err != nil || !f.Hydrated() || f.Missing() != 0 {
		t.Fatalf("hydrated %v with %d missing: %v", f.Hydrated(), f.Missing(), err)
	}
	src.fail = func() error { return errors.New("the source was used") }
	want, err := crashtest.Check(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Path() + "-pages"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the page map still exists: %v", err)
	}
	if got, err := crashtest.Sound(f.Path()); err != nil || got != want {
		t.Errorf("the plain file has %s, %v, not %s", got, err, want)
	}
}

// TestSourceFails: a failing source is an error of the query, which can be retried.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	broken := errors.New("the source is down")
	f, _ := lazyFile(t, cowvfs.Options{Capture: &cowvfs.Capture{TXID: 1}}, func(s *fileSource) {
		s.fail = func() error {
			if down.Load() {
				return broken
			}
			return nil
		}
	})
	c := open(t, f.Path())
	run(t, c, `SELECT k FROM t WHERE id = 1`)
	down.Store(true)
	var e *raw.Error
	for _, sql := range []string{`SELECT sum(length(v)) FROM t`, `UPDATE t SET v = 1`, `VACUUM`} {
		if err := c.Exec(sql); !errors.As(err, &e) || e.Code != 266 {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := f.Hydrate(t.Context(), cowvfs.Pace{}); !errors.Is(err, broken) {
		t.Errorf("hydrating: %v", err)
	}
	down.Store(false)
	run(t, c, `UPDATE t SET v = 1`)
	if _, err := crashtest.Check(c); err != nil {
		t.Error(err)
	}
}

// TestSourceHangs: a query on a hanging source ends after the timeout, and present pages can
// be read meanwhile.
func TestSourceHangs(t *testing.T) {
	t.Parallel()
	var hang atomic.Bool
	f, _ := lazyFile(t, cowvfs.Options{FaultTimeout: 500 * time.Millisecond}, func(s *fileSource) {
		s.slow = func(ctx context.Context) error {
			if hang.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		}
	})
	c := open(t, f.Path())
	run(t, c, `SELECT k FROM t WHERE id = 1`)
	hang.Store(true)
	var wg sync.WaitGroup
	for range 3 {
		r := openReader(t, f.Path())
		wg.Go(func() {
			var e *raw.Error
			if err := r.Exec(`SELECT sum(length(v)) FROM t`); !errors.As(err, &e) || e.Code != 266 {
				t.Errorf("a query on a source that hangs: %v", err)
			}
		})
	}
	run(t, c, `SELECT k FROM t WHERE id = 1`)
	wg.Wait()
	hang.Store(false)
	run(t, c, `SELECT sum(length(v)) FROM t`)
}

// TestOnePageOnce: concurrent readers read no page twice.
func TestOnePageOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyBase(t, filepath.Join(dir, "base.db"))
	src := newFileSource(t, filepath.Join(dir, "base.db"))
	count := &countingSource{fileSource: src, times: map[uint32]int{}}
	g := attach(t, cowvfs.Options{Path: filepath.Join(dir, "a.db"), Source: count})
	var wg sync.WaitGroup
	for range 4 {
		c := openReader(t, g.Path())
		wg.Go(func() { run(t, c, `SELECT sum(length(v)) FROM t`) })
	}
	wg.Go(func() {
		if err := g.Hydrate(t.Context(), cowvfs.Pace{Pages: 7}); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	n := 0
	for _, times := range count.times {
		if n++; times > 1 {
			t.Fatal("a page was read twice")
		}
	}
	if n != int(src.Pages()) {
		t.Errorf("%d of %d pages were read", n, src.Pages())
	}
}

type countingSource struct {
	*fileSource
	mu    sync.Mutex
	times map[uint32]int
}

func (s *countingSource) ReadPages(ctx context.Context, first uint32, n int) ([]byte, error) {
	s.mu.Lock()
	for i := range n {
		s.times[first+uint32(i)]++
	}
	s.mu.Unlock()
	return s.fileSource.ReadPages(ctx, first, n)
}

// TestShrink cuts off missing pages, and grows over them again.
func TestShrink(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	f, src := lazyFile(t, cowvfs.Options{Capture: &cowvfs.Capture{TXID: 1}}, nil)
	c := open(t, f.Path())
	for _, sql := range []string{
		`DELETE FROM t WHERE id > 300`, `VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`,
		`INSERT INTO t(k, v) SELECT 'again', zeroblob(5000) FROM t`, `PRAGMA wal_checkpoint(TRUNCATE)`,
	} {
		run(t, c, sql)
		id := takeAll(t, f, store)
		want, err := crashtest.Content(c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "rebuilt.db")
		if err := rebuild(store, 1, id, src.f.Name(), path); err != nil {
			t.Fatal(err)
		}
		if got, err := crashtest.Sound(path); err != nil || got != want {
			t.Errorf("%s: the segments have %s, %v, not %s", sql, got, err, want)
		}
	}
	if err := f.Hydrate(t.Context(), cowvfs.Pace{}); err != nil {
		t.Fatal(err)
	}
	if _, err := crashtest.Check(c); err != nil {
		t.Error(err)
	}
}

// TestConcurrent runs writers, readers, a shipper, checkpoints and hydration concurrently, for
// the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	f, src := lazyFile(t, cowvfs.Options{Readahead: 2, Capture: &cowvfs.Capture{TXID: 1}}, func(s *fileSource) {
		s.slow = func(context.Context) error { time.Sleep(200 * time.Microsecond); return nil }
	})
	c := open(t, f.Path())
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		r := openReader(t, f.Path())
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := r.Exec(`SELECT count(*) FROM (SELECT v FROM t WHERE id >= abs(random()) % 2000 LIMIT 20)`); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, err := shipAll(f, store); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	wg.Go(func() {
		if err := f.Hydrate(ctx, cowvfs.Pace{Pages: 4}); err != nil {
			t.Error(err)
		}
	})
	for i := range 400 {
		run(t, c, `UPDATE t SET v = zeroblob(?) WHERE id = ?`, i*10, i*4)
		if i%40 == 0 {
			if err := c.Exec(`PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
				t.Error(err)
			}
		}
	}
	for !f.Hydrated() && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	wg.Wait()
	id := takeAll(t, f, store)
	path := filepath.Join(t.TempDir(), "rebuilt.db")
	if err := rebuild(store, 1, id, src.f.Name(), path); err != nil {
		t.Fatal(err)
	}
	want, err := crashtest.Content(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := crashtest.Sound(path); err != nil || got != want {
		t.Errorf("the segments have %s, %v, not %s", got, err, want)
	}
}

// TestShrinkPartial shortens a file by missing pages: VACUUM reads only pages with content. The
// missing pages must not be read again.
func TestShrinkPartial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyBase(t, filepath.Join(dir, "base.db"))
	b, err := raw.Open(filepath.Join(dir, "base.db"), raw.Options{})
	if err == nil {
		err = errors.Join(b.Script(`DELETE FROM t WHERE id > 100; PRAGMA wal_checkpoint(TRUNCATE);`), b.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	f := attach(t, cowvfs.Options{Path: filepath.Join(dir, "a.db"), Source: newFileSource(t, filepath.Join(dir, "base.db")), Readahead: 1})
	c := open(t, f.Path())
	run(t, c, `VACUUM`)
	if f.Missing() < 100 {
		t.Fatalf("only %d pages are missing", f.Missing())
	}
	run(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if err := f.Hydrate(t.Context(), cowvfs.Pace{}); err != nil {
		t.Fatal(err)
	}
	pages := 0
	if err := c.Query(`PRAGMA page_count`, nil, func(s *raw.Stmt) error { pages = int(s.Int64(0)); return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(f.Path()); err != nil || info.Size() != int64(pages)*4096 {
		t.Errorf("the file has %d bytes for %d pages, %v", info.Size(), pages, err)
	}
	if _, err := crashtest.Check(c); err != nil {
		t.Error(err)
	}
}
