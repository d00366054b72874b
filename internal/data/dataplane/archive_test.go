package dataplane_test

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// archive opens the data for its archiving.
func archive(t *testing.T, bucket objstore.Bucket, dir string) error {
	t.Helper()
	return openOn(t, bucket, dir).Archive(t.Context())
}

// state reads the version's record.
func state(t *testing.T, bucket objstore.Bucket) branch.Record {
	t.Helper()
	c := config(t, bucket, "-")
	r, err := c.Branches.Record(t.Context(), c.Ref)
	if err != nil || r == nil {
		t.Fatalf("record %v, %v", r, err)
	}
	return *r
}

// damage changes a byte in the middle of an object; mend restores it.
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

// TestArchive: archiving ships the remaining commits, verifies that they can be restored from
// the object store, and sets the record. Verified databases are not verified again.
func TestArchive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openOn(t, way, dir)
		exec(t, database(t, v, "a"), fill)
		pass(time.Minute)
		way.setAway(true)
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (7, '')") // on this machine alone
		closed(t, v)
		way.setAway(false)

		mend := damage(t, way, firstTransaction)
		if err := archive(t, way, dir); svc.CodeOf(err) != "archive_unverified" {
			t.Errorf("archived from a damaged log: %v", err)
		}
		if _, err := os.Stat(fileIn(dir, "a")); err != nil {
			t.Errorf("the file was deleted: %v", err)
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
			t.Errorf("a verified database is verified again: %v", err)
		}
		v = openOn(t, way, dir)
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (8, '')")
		closed(t, v)
		if err := archive(t, way, dir); svc.CodeOf(err) != "archive_unverified" {
			t.Errorf("new commits are not verified: %v", err)
		}
		mend()
		if err := archive(t, way, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if n := number(t, database(t, openOn(t, way, dir), "a"), "SELECT sum(x) FROM t"); n != 15 {
			t.Errorf("got %d", n)
		}
	})
}

// TestArchiveCompares: the comparison finds a local file that differs from the log.
func TestArchiveCompares(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v := openOn(t, bucket, dir)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		f, err := os.OpenFile(fileIn(dir, "a"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("xyz"), 40*4096+2000); err != nil { // a byte of a row, which SQLite does not check
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

// TestArchiveCompacts: archiving leaves a short plan, and does not change a version without
// databases.
func TestArchiveCompacts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		if err := archive(t, bucket, dir); err != nil {
			t.Errorf("without databases: %v", err)
		}
		v := openWith(t, bucket, dir, inSync)
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		for range 50 {
			exec(t, db, "INSERT INTO t VALUES (1)")
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
