package dataplane_test

import (
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
)

// A store that was opened and never written to has no log: its version is
// archived, and woken, all the same.
func TestArchiveOfUnwritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(objstore.Mem), t.TempDir()
		v := openOn(t, bucket, dir)
		store(t, v, "empty")
		exec(t, store(t, v, "a"), fill)
		closed(t, v)
		if err := archive(t, bucket, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		v = openOn(t, bucket, dir)
		exec(t, store(t, v, "empty"), "CREATE TABLE t(x)")
		if n := number(t, store(t, v, "a"), "SELECT count(*) FROM t"); n != 150 {
			t.Errorf("%d rows", n)
		}
	})
}

// A child of a version that runs begins a store that its parent never wrote to
// by itself.
func TestWarmChildOfUnwritten(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("UNWRITTEN_DIR"); dir != "" {
		m := newMachine(t, dir)
		child := m.open(m.config("child", "v1", os.Getenv("UNWRITTEN_OFFER")))
		s := store(t, child, "empty")
		script(t, s.Write, "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
		if n := number(t, s, "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		if n := number(t, store(t, child, "a"), "SELECT count(*) FROM t"); n != rows {
			t.Errorf("%d rows", n)
		}
		return
	}
	m := newMachine(t, t.TempDir())
	v1 := m.parent()
	store(t, v1, "empty")
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

// What is the only copy after a power failure does not stay so.
func TestOnlyCopyIsShipped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := onlyCopy(t)
		reboot(t, dir)
		v := openOn(t, way, dir)
		s := store(t, v, "a")
		if cut := cutOf(t, v)["a"]; cut.TXID != 1 {
			t.Errorf("a child would begin at %d", cut.TXID)
		}
		pass(time.Minute)
		if n := restored(t, way.Bucket, "a", "SELECT x FROM t"); n != 7 {
			t.Errorf("the log has %d", n)
		}
		if n := number(t, s, "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
	})
}

// A machine that goes down again before the only copy could be shipped keeps it.
func TestOnlyCopySurvivesAnotherBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := onlyCopy(t)
		for range 2 {
			reboot(t, dir)
			way.setAway(true)
			v := openOn(t, way, dir)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, err := v.Store(ctx, "a"); err == nil {
				t.Error("it opens without the object store")
			}
			cancel()
			closed(t, v)
			way.setAway(false)
		}
		reboot(t, dir)
		v := openOn(t, way, dir)
		if n := number(t, store(t, v, "a"), "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		closed(t, v)
		if left, err := filepath.Glob(filepath.Join(dir, "stale*")); err != nil || len(left) > 0 {
			t.Errorf("left over: %v, %v", left, err)
		}
	})
}

// onlyCopy makes a store that the log knows nothing of.
func onlyCopy(t *testing.T) (way *valve, dir string) {
	t.Helper()
	way, dir = &valve{Bucket: new(objstore.Mem)}, t.TempDir()
	v := openOn(t, way, dir)
	s := store(t, v, "a")
	way.setAway(true)
	exec(t, s, "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
	closed(t, v)
	way.setAway(false)
	return way, dir
}
