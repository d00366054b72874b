package dataplane_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/dataplane"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// owner is a machine's view of the data.
type owner struct {
	*dataplane.Volumes

	told atomic.Int32 // how often it heard that the data is lost
	code atomic.Value // and why
}

func own(t *testing.T, bucket objstore.Bucket, host, dir string, change func(*dataplane.Config)) *owner {
	t.Helper()
	o := &owner{}
	o.Volumes = openWith(t, bucket, dir, func(c *dataplane.Config) {
		as(host)(c)
		c.Lost = func(err error) { o.code.Store(svc.CodeOf(err)); o.told.Add(1) }
		change(c)
	})
	return o
}

// fenced checks that nothing is served any more, and that it was said once.
func (o *owner) fenced(t *testing.T, stores ...string) {
	t.Helper()
	synctest.Wait()
	if n, code := o.told.Load(), o.code.Load(); n != 1 || code != "data_fenced" {
		t.Errorf("told %d times, %v", n, code)
	}
	nothing := func(*raw.Conn) error { t.Error("a fenced owner serves"); return nil }
	for _, name := range stores {
		s, err := o.Store(t.Context(), name)
		if err == nil {
			err = s.Read(t.Context(), nothing)
		}
		if svc.CodeOf(err) != "data_fenced" {
			t.Errorf("reading %s: %v", name, err)
		}
		if s == nil {
			continue
		}
		if err := s.Write(t.Context(), nothing); svc.CodeOf(err) != "data_fenced" {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	if err := o.cutError(t); svc.CodeOf(err) != "data_fenced" {
		t.Errorf("cut: %v", err)
	}
}

// cutError tries to take a cut.
func (o *owner) cutError(t *testing.T) error {
	t.Helper()
	_, _, err := o.Cut(t.Context())
	return err
}

// Another machine takes over from one that does not answer. The first one's next
// write is refused by the log, and with it everything else; what the log had
// before is kept, and what the second acknowledges.
func TestFenced(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]func(*dataplane.Config){
		"async": func(*dataplane.Config) {}, "sync": inSync,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				bucket := new(objstore.Mem)
				first := own(t, bucket, "first", t.TempDir(), mode)
				for _, name := range []string{"a", "b"} {
					exec(t, store(t, first.Volumes, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
				}
				pass(time.Minute)
				second := own(t, bucket, "second", t.TempDir(), mode)
				s := store(t, second.Volumes, "a")
				exec(t, s, "INSERT INTO t VALUES (2)")
				err := insert(t, store(t, first.Volumes, "a"), 100)
				if name == "sync" && svc.CodeOf(err) != "data_fenced" || name == "async" && err != nil {
					t.Errorf("the first's write: %v", err)
				}
				pass(time.Second)
				first.fenced(t, "a", "b", "new")
				began := time.Now()
				closed(t, first.Volumes)
				if took := time.Since(began); took > 0 {
					t.Errorf("closing took %v", took)
				}
				exec(t, s, "INSERT INTO t VALUES (3)")
				pass(time.Minute)
				if a, b := restored(t, bucket, "a", "SELECT sum(x) FROM t"), restored(t, bucket, "b", "SELECT sum(x) FROM t"); a != 6 || b != 1 {
					t.Errorf("the logs have %d and %d", a, b)
				}
				if second.told.Load() != 0 {
					t.Errorf("the second lost it too: %v", second.code.Load())
				}
			})
		})
	}
}

// A store to which nothing was ever shipped is taken over as well.
func TestTakeoverOfNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(objstore.Mem)
		way := &valve{Bucket: bucket}
		first := own(t, way, "first", t.TempDir(), func(*dataplane.Config) {})
		store(t, first.Volumes, "empty")
		a := store(t, first.Volumes, "a")
		way.setAway(true)
		exec(t, a, "CREATE TABLE t(x); INSERT INTO t VALUES (100)")
		second := own(t, bucket, "second", t.TempDir(), inSync)
		for _, name := range []string{"empty", "a"} {
			exec(t, store(t, second.Volumes, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		}
		way.setAway(false)
		pass(time.Minute)
		first.fenced(t, "empty", "a")
		if a, b := restored(t, bucket, "empty", "SELECT sum(x) FROM t"), restored(t, bucket, "a", "SELECT sum(x) FROM t"); a != 1 || b != 1 {
			t.Errorf("the logs have %d and %d", a, b)
		}
	})
}

// The first machine's write is under way when the second one takes over: either
// it wins its place in the log, and the second has it, or it is not acknowledged.
func TestFencedInTheMiddle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(objstore.Mem)
		way := &valve{Bucket: bucket}
		first := own(t, way, "first", t.TempDir(), inSync)
		s := store(t, first.Volumes, "a")
		exec(t, s, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		release := way.hold()
		done := make(chan error, 1)
		go func() { done <- insert(t, s, 100) }()
		synctest.Wait()
		second := own(t, bucket, "second", t.TempDir(), inSync)
		exec(t, store(t, second.Volumes, "a"), "INSERT INTO t VALUES (2)")
		release()
		if err := <-done; svc.CodeOf(err) != "data_fenced" {
			t.Errorf("the first's write: %v", err)
		}
		first.fenced(t, "a")
		if n := restored(t, bucket, "a", "SELECT sum(x) FROM t"); n != 3 {
			t.Errorf("the log has %d", n)
		}
	})
}

// The new owner's process dies before it has opened every store. The next one on
// that machine still proves its right to those.
func TestTakeoverCutShort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(objstore.Mem), t.TempDir()
		first := own(t, bucket, "first", t.TempDir(), inSync)
		for _, name := range []string{"a", "b"} {
			exec(t, store(t, first.Volumes, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		}
		second := own(t, bucket, "second", dir, inSync)
		store(t, second.Volumes, "a")
		closed(t, second.Volumes)
		third := own(t, bucket, "second", dir, inSync)
		s := store(t, third.Volumes, "b")
		if n := number(t, s, "SELECT sum(x) FROM t"); n != 1 {
			t.Errorf("the second machine sees %d", n)
		}
		if err := insert(t, store(t, first.Volumes, "b"), 100); svc.CodeOf(err) != "data_fenced" {
			t.Errorf("the first's write, after the second has read: %v", err)
		}
		exec(t, s, "INSERT INTO t VALUES (2)")
		if n := restored(t, bucket, "b", "SELECT sum(x) FROM t"); n != 3 {
			t.Errorf("the log has %d", n)
		}
	})
}

// A machine that only reads hears of its end too, soon; while it is not used it
// asks nothing.
func TestFencedReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &valve{Bucket: new(objstore.Mem)}
		first := own(t, way, "first", t.TempDir(), leased)
		s := store(t, first.Volumes, "a")
		exec(t, s, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		pass(time.Minute)
		before := way.requests.Load()
		if pass(time.Hour); way.requests.Load() != before {
			t.Errorf("%d requests in an hour in which nothing was asked", way.requests.Load()-before)
		}
		second := own(t, way.Bucket, "second", t.TempDir(), leased)
		exec(t, store(t, second.Volumes, "a"), "INSERT INTO t VALUES (2)")
		number(t, s, "SELECT x FROM t")
		pass(6 * time.Second)
		first.fenced(t, "a")
		if second.told.Load() != 0 {
			t.Errorf("the second lost it too: %v", second.code.Load())
		}
	})
}

// A store that does not answer proves nothing: reads go on.
func TestReaderWhileAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &valve{Bucket: new(objstore.Mem)}
		first := own(t, way, "first", t.TempDir(), leased)
		s := store(t, first.Volumes, "a")
		exec(t, s, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		pass(time.Minute)
		way.setAway(true)
		for range 60 {
			number(t, s, "SELECT x FROM t")
			pass(time.Second)
		}
		way.setAway(false)
		exec(t, s, "INSERT INTO t VALUES (2)")
	})
}

func leased(c *dataplane.Config) { c.Lease = 15 * time.Second }
