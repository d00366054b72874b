package dataplane_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// lateBucket is a bucket on whose way one append stays until after its sender has died.
type lateBucket struct {
	gatedBucket

	mu     sync.Mutex
	armed  bool
	arrive func() // the append that stays arrives
	before func() // called once, before the next append; may be nil
}

func newLateBucket() *lateBucket {
	return &lateBucket{gatedBucket: gatedBucket{Bucket: new(memstore.Bucket)}}
}

// keepNext has the next append stay on its way.
func (b *lateBucket) keepNext() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = true
}

// beforeNext calls fn before the next append.
func (b *lateBucket) beforeNext(fn func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before = fn
}

func (b *lateBucket) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if !isTransaction(key) {
		return b.gatedBucket.Put(ctx, key, body, size, cond)
	}
	b.mu.Lock()
	keep, before := b.armed, b.before
	b.armed, b.before = false, nil
	b.mu.Unlock()
	if before != nil {
		before()
	}
	if !keep {
		return b.gatedBucket.Put(ctx, key, body, size, cond)
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return objstore.Info{}, err
	}
	b.arrive = func() {
		_, _ = b.Bucket.Put(context.WithoutCancel(ctx), key, bytes.NewReader(data), size, cond) // its sender is dead
	}
	<-ctx.Done()
	return objstore.Info{}, ctx.Err()
}

// dieAppending is a process that inserts x and dies with its machine's files, while the append is on its way.
func (b *lateBucket) dieAppending(t *testing.T, dir, name, text string) {
	t.Helper()
	v := openOn(t, b, dir)
	db := database(t, v, name)
	b.keepNext()
	exec(t, db, text)
	pass(time.Second)
	closed(t, v)
	if b.arrive == nil {
		t.Fatal("nothing is on its way")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// TestLateAppend: the append of a process that died with its files arrives while the next process of
// the node serves. That one is not fenced, and keeps what it has acknowledged.
func TestLateAppend(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		early bool // it arrives after the next process has read the log, and before it claims it
		want  int64
	}{"late": {want: 20}, "in the middle": {early: true, want: 21}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				way, dir := newLateBucket(), t.TempDir()
				v := openOn(t, way, dir)
				exec(t, database(t, v, "a"), "CREATE TABLE t(x)")
				pass(time.Minute)
				closed(t, v)
				way.dieAppending(t, dir, "a", "INSERT INTO t VALUES (1)")
				if tc.early {
					way.beforeNext(way.arrive)
				}
				next := own(t, way, "h", dir, sameNode)
				db := database(t, next.Volumes, "a")
				exec(t, db, "INSERT INTO t VALUES (20)")
				way.arrive()
				pass(time.Minute)
				if next.revoked.Load() > 0 {
					t.Errorf("the next process was fenced: %v", next.code.Load())
				}
				closed(t, next.Volumes)
				if n := restored(t, way.Bucket, "a", "SELECT sum(x) FROM t"); n != tc.want {
					t.Errorf("the log has %d, want %d", n, tc.want)
				}
			})
		})
	}
}

func createTable(c *raw.Conn) error { return c.Script("CREATE TABLE t(x)") }

func sameNode(c *dataplane.Config) { c.Owner = svc.Owner{Node: "h", Session: "s"} }

// TestLateAppendAfterCrash: the same, when a process in between died while it claimed the log.
func TestLateAppendAfterCrash(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := newLateBucket(), t.TempDir()
		v := openOn(t, way, dir)
		exec(t, database(t, v, "a"), "CREATE TABLE t(x)")
		pass(time.Minute)
		closed(t, v)
		way.dieAppending(t, dir, "a", "INSERT INTO t VALUES (1)")
		release := way.hold()
		between := openOn(t, way, dir)
		ctx, cancel := contextFor(t, time.Second)
		if _, err := between.Database(ctx, "a"); err == nil {
			t.Error("opened without a claim")
		}
		cancel()
		closed(t, between)
		release()
		way.beforeNext(way.arrive)
		next := own(t, way, "h", dir, sameNode)
		exec(t, database(t, next.Volumes, "a"), "INSERT INTO t VALUES (20)")
		pass(time.Minute)
		if next.revoked.Load() > 0 {
			t.Errorf("the next process was fenced: %v", next.code.Load())
		}
		closed(t, next.Volumes)
		if n := restored(t, way.Bucket, "a", "SELECT sum(x) FROM t"); n != 21 {
			t.Errorf("the log has %d", n)
		}
	})
}

// TestLateFirstAppend: a log that the version has not written is not claimed. Its first write is
// acknowledged when the log has it, so that a late append cannot take it back.
func TestLateFirstAppend(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := newLateBucket(), t.TempDir()
		way.dieAppending(t, dir, "a", "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
		appends := way.appends.Load()
		next := own(t, way, "h", dir, sameNode)
		database(t, next.Volumes, "a")
		if n := way.appends.Load() - appends; n != 0 {
			t.Errorf("opening appends %d times", n)
		}
		closed(t, next.Volumes) // and another process begins with its file
		next = own(t, way, "h", dir, sameNode)
		db := database(t, next.Volumes, "a")
		way.beforeNext(way.arrive)
		if err := db.Write(t.Context(), createTable); svc.CodeOf(err) != "data_fenced" {
			t.Errorf("a write that the late append has overtaken: %v", err)
		}
		closed(t, next.Volumes)
		last := own(t, way, "h", dir, sameNode)
		exec(t, database(t, last.Volumes, "a"), "INSERT INTO t VALUES (20)")
		exec(t, database(t, last.Volumes, "b"), "CREATE TABLE t(x); INSERT INTO t VALUES (7)") // new: its first write waits, too
		if n := restored(t, way.Bucket, "b", "SELECT sum(x) FROM t"); n != 7 {
			t.Errorf("the log has %d", n)
		}
		synctest.Wait()
		closed(t, last.Volumes)
		if n := restored(t, way.Bucket, "a", "SELECT sum(x) FROM t"); n != 21 {
			t.Errorf("the log has %d", n)
		}
	})
}
