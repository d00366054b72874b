package dataplane_test

import (
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
)

// TestArchiveOfUnwritten: a version with a database that was never written to, and so has no log, is
// archived and woken.
func TestArchiveOfUnwritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v := openOn(t, bucket, dir)
		database(t, v, "empty")
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		if err := archive(t, bucket, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		v = openOn(t, bucket, dir)
		exec(t, database(t, v, "empty"), "CREATE TABLE t(x)")
		if n := number(t, database(t, v, "a"), "SELECT count(*) FROM t"); n != 150 {
			t.Errorf("%d rows", n)
		}
	})
}

// TestWarmChildOfUnwritten: a child of a running version begins without a database that its parent never
// wrote to.
func TestWarmChildOfUnwritten(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("UNWRITTEN_DIR"); dir != "" {
		m := newMachine(t, dir)
		child := m.open(m.config("child", "v1", os.Getenv("UNWRITTEN_OFFER")))
		db := database(t, child, "empty")
		script(t, db.Write, "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
		if n := number(t, db, "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		if n := number(t, database(t, child, "a"), "SELECT count(*) FROM t"); n != rows {
			t.Errorf("%d rows", n)
		}
		return
	}
	m := newMachine(t, t.TempDir())
	v1 := m.parent()
	database(t, v1, "empty")
	offer := m.fork(v1, "v1", "child")
	if offer == "" {
		t.Fatal("the parent offers nothing")
	}
	cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWarmChildOfUnwritten$")
	cmd.Env = append(os.Environ(), "UNWRITTEN_DIR="+m.dir, "UNWRITTEN_OFFER="+offer)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestOnlyCopyIsShipped: the only copy after a power failure is shipped.
func TestOnlyCopyIsShipped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := onlyCopy(t)
		reboot(t, dir)
		v := openOn(t, way, dir)
		db := database(t, v, "a")
		if cut := cutOf(t, v)["a"]; cut.TXID != 1 {
			t.Errorf("a child would begin at %d", cut.TXID)
		}
		pass(time.Minute)
		if n := restored(t, way.Bucket, "a", "SELECT x FROM t"); n != 7 {
			t.Errorf("the log has %d", n)
		}
		if n := number(t, db, "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
	})
}

// TestOnlyCopySurvivesAnotherBoot: a machine that goes down again before the only copy is shipped keeps it.
func TestOnlyCopySurvivesAnotherBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := onlyCopy(t)
		for range 2 {
			reboot(t, dir)
			way.setAway(true)
			v := openOn(t, way, dir)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, err := v.Database(ctx, "a"); err == nil {
				t.Error("opened without the object store")
			}
			cancel()
			closed(t, v)
			way.setAway(false)
		}
		reboot(t, dir)
		v := openOn(t, way, dir)
		if n := number(t, database(t, v, "a"), "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		closed(t, v)
		if left, err := filepath.Glob(filepath.Join(dir, "stale*")); err != nil || len(left) > 0 {
			t.Errorf("left over: %v, %v", left, err)
		}
	})
}

// onlyCopy makes a database whose log is empty.
func onlyCopy(t *testing.T) (way *gatedBucket, dir string) {
	t.Helper()
	way, dir = &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
	v := openOn(t, way, dir)
	db := database(t, v, "a")
	way.setAway(true)
	exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
	closed(t, v)
	way.setAway(false)
	return way, dir
}
