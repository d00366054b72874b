package dataplane_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// bubble runs fn with a clock that advances only while every goroutine waits.
func bubble(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, fn)
}

// pass advances the clock, and waits until every goroutine waits.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestWindow: writes are in the log when the window ends, not before, as one transaction; without writes
// no request is sent.
func TestWindow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		v := openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Second })
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		for range 9 {
			exec(t, db, "INSERT INTO t VALUES (1)")
		}
		if pass(999 * time.Millisecond); way.appends.Load() != 0 {
			t.Error("shipped before the end of the window")
		}
		if age, err := v.Behind(); age != 999*time.Millisecond || err != nil {
			t.Errorf("behind by %v, %v", age, err)
		}
		if pass(time.Millisecond); way.appends.Load() != 1 {
			t.Errorf("%d appends of 10 commits in one window", way.appends.Load())
		}
		if n := restored(t, way.Bucket, "a", "SELECT count(*) FROM t"); n != 9 {
			t.Errorf("the log has %d rows", n)
		}
		before := way.requests.Load()
		if pass(24 * time.Hour); way.requests.Load() != before {
			t.Errorf("%d requests in a day without a write", way.requests.Load()-before)
		}
		exec(t, db, "INSERT INTO t VALUES (1)")
		if pass(time.Second); way.appends.Load() != 2 || way.requests.Load() != before+1 {
			t.Errorf("%d appends, %d requests for one write", way.appends.Load(), way.requests.Load()-before)
		}
		if age, _ := v.Behind(); age != 0 {
			t.Errorf("behind by %v", age)
		}
	})
}

// TestNeverQuiet: a database with continuous writes is shipped once per window, and its writers are not
// held.
func TestNeverQuiet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket), latency: 25 * time.Millisecond}
		v := openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Second })
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		began := time.Now()
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			exec(t, db, "INSERT INTO t VALUES (1)")
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("1000 writes with a pause of 10 ms took %v", took)
		}
		if n := way.appends.Load(); n < 9 || n > 10 {
			t.Errorf("%d appends in ten windows", n)
		}
		pass(2 * time.Second)
		if n := restored(t, way.Bucket, "a", "SELECT count(*) FROM t"); n != 1000 {
			t.Errorf("the log has %d rows", n)
		}
	})
}

// TestCloseShips: Close does not wait for the window.
func TestCloseShips(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		v := openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Hour })
		exec(t, database(t, v, "a"), "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
		exec(t, database(t, v, "b"), "CREATE TABLE t(x); INSERT INTO t VALUES (8)")
		began := time.Now()
		closed(t, v)
		if took := time.Since(began); took > time.Second {
			t.Errorf("closing took %v", took)
		}
		if a, b := restored(t, way.Bucket, "a", "SELECT x FROM t"), restored(t, way.Bucket, "b", "SELECT x FROM t"); a != 7 || b != 8 {
			t.Errorf("the logs have %d and %d", a, b)
		}
	})
}

// TestWriteWhileClosing: after Close has begun no write is accepted that it would not ship.
func TestWriteWhileClosing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		v := openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Hour })
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		defer way.hold()()
		done := make(chan error, 1)
		go func() { done <- v.Close() }()
		pass(time.Second) // it waits for the object store
		for i := range 50 {
			if err := insert(t, db, i); err == nil {
				t.Fatal("written while the data is being closed")
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestCloseWhileAway: Close does not wait for an object store that is down, and the next process ships the
// rest.
func TestCloseWhileAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openWith(t, way, dir, func(*dataplane.Config) {})
		exec(t, database(t, v, "a"), "CREATE TABLE t(x)")
		pass(time.Minute)
		way.setAway(true)
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (7)")
		began := time.Now()
		closed(t, v)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("closing took %v", took)
		}
		way.setAway(false)
		v = openWith(t, way, dir, func(*dataplane.Config) {})
		database(t, v, "a")
		pass(time.Minute)
		if n := restored(t, way.Bucket, "a", "SELECT x FROM t"); n != 7 {
			t.Errorf("the log has %d", n)
		}
	})
}

// TestBackPressure: while the object store accepts nothing, writes continue within the window, are held
// after it, and finally rejected; reads continue. Everything recovers without help.
func TestBackPressure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		v := openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Second })
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		pass(time.Minute)
		way.setAway(true)
		exec(t, db, "INSERT INTO t VALUES (1)")
		if pass(2 * time.Second); t.Failed() {
			return
		}
		exec(t, db, "INSERT INTO t VALUES (2)") // its age is within 2 windows and an upload
		pass(time.Second)
		held := make(chan error, 1)
		go func() { held <- insert(t, db, 3) }()
		if pass(4900 * time.Millisecond); len(held) != 0 {
			t.Errorf("a write is not held: %v", <-held)
		}
		if db.Late() {
			t.Error("late before writes are rejected")
		}
		if n := number(t, db, "SELECT count(*) FROM t"); n != 2 {
			t.Errorf("%d rows while a write is held", n)
		}
		pass(200 * time.Millisecond)
		refused(t, <-held)
		refused(t, insert(t, db, 4)) // immediately from now on
		if !db.Late() {
			t.Error("not late while writes are rejected")
		}
		if n := number(t, db, "SELECT count(*) FROM t"); n != 2 {
			t.Errorf("%d rows while writes are rejected", n)
		}
		pass(10 * time.Second)
		if age, failing := v.Behind(); age < 18*time.Second || failing == nil || !strings.Contains(failing.Error(), errAway.Error()) {
			t.Errorf("behind by %v, %v", age, failing)
		}
		if err := db.Record(t.Context(), func(c *raw.Conn) error { return c.Exec("INSERT INTO t VALUES (6)") }); err != nil {
			t.Errorf("what happened already is refused: %v", err)
		}
		way.setAway(false)
		pass(3 * time.Second) // the longest pause between two attempts
		if db.Late() {
			t.Error("late after the object store is up again")
		}
		if err := insert(t, db, 5); err != nil {
			t.Errorf("after the object store is up again: %v", err)
		}
		pass(time.Second)
		if n := restored(t, way.Bucket, "a", "SELECT sum(x) FROM t"); n != 1+2+5+6 {
			t.Errorf("the log has the sum %d", n)
		}
	})
}

func insert(t *testing.T, db volume.Database, x int) error {
	t.Helper()
	return db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec("INSERT INTO t VALUES (?)", x) })
}

func refused(t *testing.T, err error) {
	t.Helper()
	var e *svc.Error
	if !errors.As(err, &e) || e.Code != "data_behind" || e.Kind != svc.Unavailable || e.RetryAfter <= 0 {
		t.Errorf("refused by %v", err)
	}
}

// TestWriteAfterSuspension: a write that comes after the process was suspended is held until the older
// ones are shipped, although they are old by the clock; if they are not shipped, it is rejected.
func TestWriteAfterSuspension(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		db := database(t, openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = 100 * time.Millisecond }), "a")
		exec(t, db, "CREATE TABLE t(x)")
		pass(time.Minute)
		release := way.hold()
		exec(t, db, "INSERT INTO t VALUES (1)")
		pass(9 * time.Second) // no attempt has an end, as if nothing had run
		refused(t, insert(t, db, 2))
		held := make(chan error, 1)
		go func() { held <- insert(t, db, 3) }()
		pass(time.Millisecond)
		release()
		pass(time.Second)
		if err := <-held; err != nil {
			t.Errorf("a write after a suspension: %v", err)
		}
	})
}

// TestHeldWriteContinues: a held write continues as soon as the object store accepts the earlier ones.
func TestHeldWriteContinues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		db := database(t, openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Second }), "a")
		exec(t, db, "CREATE TABLE t(x)")
		release := way.hold()
		pass(4 * time.Second)
		held := make(chan error, 1)
		go func() { held <- insert(t, db, 1) }()
		if pass(time.Second); len(held) != 0 {
			t.Errorf("a write is not held: %v", <-held)
		}
		release()
		synctest.Wait()
		if len(held) != 1 {
			t.Error("a write is held although the log follows")
		}
		if err := <-held; err != nil {
			t.Error(err)
		}
	})
}

// TestSyncWaits: in sync mode a write returns when the log has it, and so does a read that saw it, with
// or without an error.
func TestSyncWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		db := database(t, openWith(t, way, t.TempDir(), inSync), "a")
		exec(t, db, "CREATE TABLE t(x)")
		release := way.hold()
		done := make(chan error, 3)
		go func() { done <- insert(t, db, 1) }()
		synctest.Wait()
		saw := errors.New("there is a row")
		for _, result := range []error{nil, saw} {
			go func() {
				err := db.Read(t.Context(), func(c *raw.Conn) error {
					rows := 0
					err := c.Query("SELECT x FROM t", nil, func(*raw.Stmt) error { rows++; return nil })
					if rows != 1 {
						t.Errorf("%d rows are seen", rows)
					}
					return errors.Join(err, result)
				})
				if !errors.Is(err, result) {
					t.Errorf("the read returns %v", err)
				}
				done <- nil
			}()
		}
		if pass(time.Second); len(done) != 0 {
			t.Errorf("%d returned before the log has the row: %v", len(done), <-done)
		}
		release()
		if synctest.Wait(); len(done) != 3 {
			t.Errorf("%d of 3 returned", len(done))
		}
		for range len(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSyncCanceled: a write whose caller cancels is not_durable.
func TestSyncCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		db := database(t, openWith(t, way, t.TempDir(), inSync), "a")
		exec(t, db, "CREATE TABLE t(x)")
		defer way.hold()()
		ctx, cancel := contextFor(t, 2*time.Second)
		defer cancel()
		err := db.Write(ctx, func(c *raw.Conn) error { return c.Exec("INSERT INTO t VALUES (1)") })
		if svc.CodeOf(err) != "not_durable" {
			t.Errorf("got %v", err)
		}
	})
}

// TestGroupCommit: concurrent writers share appends.
func TestGroupCommit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket), latency: 20 * time.Millisecond}
		db := database(t, openWith(t, way, t.TempDir(), inSync), "a")
		exec(t, db, "CREATE TABLE t(x)")
		const writers, writes = 16, 10
		before := way.appends.Load()
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range writes {
					exec(t, db, "INSERT INTO t VALUES (1)")
				}
			})
		}
		all.Wait()
		if n := way.appends.Load() - before; n > writers*writes/4 {
			t.Errorf("%d appends for %d writes of %d writers", n, writers*writes, writers)
		}
		if n := restored(t, way.Bucket, "a", "SELECT count(*) FROM t"); n != writers*writes {
			t.Errorf("the log has %d rows", n)
		}
	})
}
