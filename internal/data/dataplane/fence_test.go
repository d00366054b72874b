package dataplane_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// owner is the data as one node has it.
type owner struct {
	*dataplane.Volumes

	revoked atomic.Int32 // calls of Revoked
	code    atomic.Value // of the last one
}

func own(t *testing.T, bucket objstore.Bucket, node, dir string, change func(*dataplane.Config)) *owner {
	t.Helper()
	o := &owner{}
	o.Volumes = openWith(t, bucket, dir, func(c *dataplane.Config) {
		as(node)(c)
		c.Revoked = func(err error) { o.code.Store(svc.CodeOf(err)); o.revoked.Add(1) }
		change(c)
	})
	return o
}

// fenced checks that every call fails, and that Revoked was called once.
func (o *owner) fenced(t *testing.T, stores ...string) {
	t.Helper()
	synctest.Wait()
	if n, code := o.revoked.Load(), o.code.Load(); n != 1 || code != "data_fenced" {
		t.Errorf("revoked %d times, %v", n, code)
	}
	nothing := func(*raw.Conn) error { t.Error("a fenced owner serves"); return nil }
	for _, name := range stores {
		db, err := o.Database(t.Context(), name)
		if err == nil {
			err = db.Read(t.Context(), nothing)
		}
		if svc.CodeOf(err) != "data_fenced" {
			t.Errorf("reading %s: %v", name, err)
		}
		if db == nil {
			continue
		}
		if err := db.Write(t.Context(), nothing); svc.CodeOf(err) != "data_fenced" {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	if err := o.cutError(t); svc.CodeOf(err) != "data_fenced" {
		t.Errorf("cut: %v", err)
	}
}

// cutError tries to make a cut.
func (o *owner) cutError(t *testing.T) error {
	t.Helper()
	_, _, err := o.Cut(t.Context())
	return err
}

// TestFenced: another node takes over from one that does not answer. The log rejects the first node's
// next write, which ends all its calls; the log keeps its earlier writes and those that the second
// acknowledges.
func TestFenced(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]func(*dataplane.Config){
		"async": func(*dataplane.Config) {}, "sync": inSync,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				bucket := new(memstore.Bucket)
				first := own(t, bucket, "first", t.TempDir(), mode)
				for _, name := range []string{"a", "b"} {
					exec(t, database(t, first.Volumes, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
				}
				pass(time.Minute)
				second := own(t, bucket, "second", t.TempDir(), mode)
				db := database(t, second.Volumes, "a")
				exec(t, db, "INSERT INTO t VALUES (2)")
				err := insert(t, database(t, first.Volumes, "a"), 100)
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
				exec(t, db, "INSERT INTO t VALUES (3)")
				pass(time.Minute)
				if a, b := restored(t, bucket, "a", "SELECT sum(x) FROM t"), restored(t, bucket, "b", "SELECT sum(x) FROM t"); a != 6 || b != 1 {
					t.Errorf("the logs have %d and %d", a, b)
				}
				if second.revoked.Load() != 0 {
					t.Errorf("the second was fenced too: %v", second.code.Load())
				}
			})
		})
	}
}

// TestTakeoverOfEmptyDatabase: a database without a shipped transaction is taken over too.
func TestTakeoverOfEmptyDatabase(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(memstore.Bucket)
		way := &gatedBucket{Bucket: bucket}
		first := own(t, way, "first", t.TempDir(), func(*dataplane.Config) {})
		database(t, first.Volumes, "empty")
		a := database(t, first.Volumes, "a")
		way.setAway(true)
		exec(t, a, "CREATE TABLE t(x); INSERT INTO t VALUES (100)")
		second := own(t, bucket, "second", t.TempDir(), inSync)
		for _, name := range []string{"empty", "a"} {
			exec(t, database(t, second.Volumes, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		}
		way.setAway(false)
		pass(time.Minute)
		first.fenced(t, "empty", "a")
		if a, b := restored(t, bucket, "empty", "SELECT sum(x) FROM t"), restored(t, bucket, "a", "SELECT sum(x) FROM t"); a != 1 || b != 1 {
			t.Errorf("the logs have %d and %d", a, b)
		}
	})
}

// TestFencedInTheMiddle: the first node's write is in progress when the second one takes over. Either
// the write wins its slot and the second node has it, or it is not acknowledged.
func TestFencedInTheMiddle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(memstore.Bucket)
		way := &gatedBucket{Bucket: bucket}
		first := own(t, way, "first", t.TempDir(), inSync)
		db := database(t, first.Volumes, "a")
		exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		release := way.hold()
		done := make(chan error, 1)
		go func() { done <- insert(t, db, 100) }()
		synctest.Wait()
		second := own(t, bucket, "second", t.TempDir(), inSync)
		exec(t, database(t, second.Volumes, "a"), "INSERT INTO t VALUES (2)")
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

// TestTakeoverInterrupted: the new owner's process crashes before it has opened every database. The next
// process of that node still claims the others.
func TestTakeoverInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		first := own(t, bucket, "first", t.TempDir(), inSync)
		for _, name := range []string{"a", "b"} {
			exec(t, database(t, first.Volumes, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		}
		second := own(t, bucket, "second", dir, inSync)
		database(t, second.Volumes, "a")
		closed(t, second.Volumes)
		third := own(t, bucket, "second", dir, inSync)
		db := database(t, third.Volumes, "b")
		if n := number(t, db, "SELECT sum(x) FROM t"); n != 1 {
			t.Errorf("the second machine sees %d", n)
		}
		if err := insert(t, database(t, first.Volumes, "b"), 100); svc.CodeOf(err) != "data_fenced" {
			t.Errorf("the first's write, after the second has read: %v", err)
		}
		exec(t, db, "INSERT INTO t VALUES (2)")
		if n := restored(t, bucket, "b", "SELECT sum(x) FROM t"); n != 3 {
			t.Errorf("the log has %d", n)
		}
	})
}

// TestFencedReader: a node that only reads is fenced soon too; an unused one sends no request.
func TestFencedReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		first := own(t, way, "first", t.TempDir(), leased)
		db := database(t, first.Volumes, "a")
		exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		pass(time.Minute)
		before := way.requests.Load()
		if pass(time.Hour); way.requests.Load() != before {
			t.Errorf("%d requests in an hour in which nothing was asked", way.requests.Load()-before)
		}
		second := own(t, way.Bucket, "second", t.TempDir(), leased)
		exec(t, database(t, second.Volumes, "a"), "INSERT INTO t VALUES (2)")
		number(t, db, "SELECT x FROM t")
		pass(6 * time.Second)
		first.fenced(t, "a")
		if second.revoked.Load() != 0 {
			t.Errorf("the second was fenced too: %v", second.code.Load())
		}
	})
}

// TestReaderWhileAway: while the object store does not answer, reads continue.
func TestReaderWhileAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		first := own(t, way, "first", t.TempDir(), leased)
		db := database(t, first.Volumes, "a")
		exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		pass(time.Minute)
		way.setAway(true)
		for range 60 {
			number(t, db, "SELECT x FROM t")
			pass(time.Second)
		}
		way.setAway(false)
		exec(t, db, "INSERT INTO t VALUES (2)")
	})
}

func leased(c *dataplane.Config) { c.Lease = 15 * time.Second }
