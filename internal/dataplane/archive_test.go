package dataplane_test

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/dataplane"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// archive opens the data for its archiving.
func archive(t *testing.T, bucket objstore.Bucket, dir string) error {
	t.Helper()
	return openOn(t, bucket, dir).Archive(t.Context())
}

// state is what the version's record says.
func state(t *testing.T, bucket objstore.Bucket) branch.Record {
	t.Helper()
	c := config(t, bucket, "-")
	r, err := c.Branches.Record(t.Context(), c.Ref)
	if err != nil || r == nil {
		t.Fatalf("record %v, %v", r, err)
	}
	return *r
}

// damage changes a byte in the middle of an object and gives back what undoes it.
func damage(t *testing.T, bucket objstore.Bucket, key string) (mend func()) {
	t.Helper()
	r, info, err := bucket.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	good, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) {
		if _, err := bucket.Put(t.Context(), key, bytes.NewReader(data), info.Size, objstore.Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	bad := bytes.Clone(good)
	bad[len(bad)/2] ^= 1
	put(bad)
	return func() { put(good) }
}

const firstTransaction = "p/v1/db/a/ltx/0000/0000000000000001-0000000000000001.ltx"

// Archiving ships what is left, looks whether the store gives it back, and says
// so in the record. What was proven once is not looked at again.
func TestArchive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &valve{Bucket: new(objstore.Mem)}, t.TempDir()
		v := openOn(t, way, dir)
		exec(t, store(t, v, "a"), fill)
		pass(time.Minute)
		way.setAway(true)
		exec(t, store(t, v, "a"), "INSERT INTO t VALUES (7, '')") // still on this machine only
		closed(t, v)
		way.setAway(false)

		mend := damage(t, way, firstTransaction)
		if err := archive(t, way, dir); svc.CodeOf(err) != "archive_unverified" {
			t.Errorf("archived from a damaged log: %v", err)
		}
		if _, err := os.Stat(fileIn(dir, "a")); err != nil {
			t.Errorf("the file is gone: %v", err)
		}
		if r := state(t, way); r.State != branch.StateLive {
			t.Errorf("the data is %s", r.State)
		}
		mend()
		if err := archive(t, way, dir); err != nil {
			t.Fatal(err)
		}
		if r := state(t, way); r.State != branch.StateArchived || r.Owner != "" || r.Verified["a"] != 2 {
			t.Errorf("the record is %+v", r)
		}

		mend = damage(t, way, firstTransaction)
		if err := archive(t, way, dir); err != nil {
			t.Errorf("what was proven is looked at again: %v", err)
		}
		v = openOn(t, way, dir)
		exec(t, store(t, v, "a"), "INSERT INTO t VALUES (8, '')")
		closed(t, v)
		if err := archive(t, way, dir); svc.CodeOf(err) != "archive_unverified" {
			t.Errorf("what is new is not looked at: %v", err)
		}
		mend()
		if err := archive(t, way, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if n := number(t, store(t, openOn(t, way, dir), "a"), "SELECT sum(x) FROM t"); n != 15 {
			t.Errorf("got %d", n)
		}
	})
}

// A local file that is not what the log gives back is found by the comparison.
func TestArchiveCompares(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(objstore.Mem), t.TempDir()
		v := openOn(t, bucket, dir)
		exec(t, store(t, v, "a"), fill)
		closed(t, v)
		f, err := os.OpenFile(fileIn(dir, "a"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("xyz"), 40*4096+2000); err != nil { // a byte of a row: SQLite has no objection
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := archive(t, bucket, dir); svc.CodeOf(err) != "archive_unverified" {
			t.Errorf("got %v", err)
		}
	})
}

// Archiving leaves a short plan, and a version nobody has written to alone.
func TestArchiveCompacts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(objstore.Mem), t.TempDir()
		if err := archive(t, bucket, dir); err != nil {
			t.Errorf("of nothing: %v", err)
		}
		v := openWith(t, bucket, dir, inSync)
		s := store(t, v, "a")
		exec(t, s, "CREATE TABLE t(x)")
		for range 50 {
			exec(t, s, "INSERT INTO t VALUES (1)")
		}
		closed(t, v)
		if err := archive(t, bucket, dir); err != nil {
			t.Fatal(err)
		}
		cut, err := dataplane.CutStored(t.Context(), config(t, bucket, "-"))
		if err != nil || len(cut["a"].Files) > 33 {
			t.Errorf("%d files restore it, %v", len(cut["a"].Files), err)
		}
		if n := askCut(t, bucket, cut["a"], "SELECT count(*) FROM t"); n != 50 {
			t.Errorf("%d rows", n)
		}
	})
}
