package dataplane_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const diskLimit = 8 << 20

func openLimited(t *testing.T) (v *dataplane.Volumes, dir, logs string) {
	t.Helper()
	dir, logs = t.TempDir(), t.TempDir()
	cfg := config(t, new(memstore.Bucket), dir)
	cfg.DiskLimit, cfg.LogDir = diskLimit, logs
	v, err := dataplane.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v, dir, logs
}

// fillUp inserts rows of a megabyte until the database is full, and returns how many it has.
func fillUp(t *testing.T, db volume.Database) (rows int64) {
	t.Helper()
	for range 2 * diskLimit >> 20 {
		err := db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec("INSERT INTO t VALUES (randomblob(1000000))") })
		if isFull(err) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	t.Fatalf("%d rows of a megabyte are in %d bytes", rows, diskLimit)
	return 0
}

func isFull(err error) bool {
	var e *raw.Error
	return errors.As(err, &e) && e.Code.Primary() == raw.Full
}

// TestDiskLimit: writes fail when the version has used its disk space; rows can be deleted,
// and their place is used again.
func TestDiskLimit(t *testing.T) {
	t.Parallel()
	v, dir, _ := openLimited(t)
	db := database(t, v, "a")
	exec(t, db, "CREATE TABLE t(x)")
	rows := fillUp(t, db)
	if rows < 4 {
		t.Errorf("%d rows of a megabyte fit into %d bytes", rows, diskLimit)
	}
	if n := number(t, db, "SELECT count(*) FROM t"); n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
	exec(t, db, "DELETE FROM t WHERE rowid <= 2")
	exec(t, db, "INSERT INTO t VALUES (randomblob(1000000))")
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "db", "a.sqlite"))
	if err != nil || info.Size() > diskLimit {
		t.Errorf("the database has %d bytes, %v", info.Size(), err)
	}
}

// TestDiskLimitOfOneTransaction: the rows of one endless transaction meet the limit too.
func TestDiskLimitOfOneTransaction(t *testing.T) {
	t.Parallel()
	v, _, _ := openLimited(t)
	db := database(t, v, "a")
	exec(t, db, "CREATE TABLE t(x)")
	err := db.Write(t.Context(), func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			return c.Script(`WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) INSERT INTO t SELECT randomblob(100000) FROM n`)
		})
	})
	if !isFull(err) {
		t.Errorf("the endless insert ended with %v", err)
	}
	if n := number(t, db, "SELECT count(*) FROM t"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	exec(t, db, "INSERT INTO t VALUES (1)")
}

// TestDiskLimitCountsAll: other databases and the logs use the same space.
func TestDiskLimitCountsAll(t *testing.T) {
	t.Parallel()
	v, _, logs := openLimited(t)
	if err := os.WriteFile(filepath.Join(logs, "worker.log"), make([]byte, diskLimit/4*3), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := database(t, v, "a"), database(t, v, "b")
	exec(t, a, "CREATE TABLE t(x)")
	exec(t, b, "CREATE TABLE t(x); INSERT INTO t VALUES (randomblob(1000000))")
	if n := fillUp(t, a); n > 2 {
		t.Errorf("%d rows of a megabyte fit beside logs of %d bytes", n, diskLimit/4*3)
	}
	if err := os.WriteFile(filepath.Join(logs, "worker.log"), make([]byte, diskLimit), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := v.Temp(); svc.CodeOf(err) != svc.CodeVersionDiskFull {
		t.Errorf("a temporary file %v, %v", f, err)
	}
}

// TestDiskLimitOfBlobs: blobs in an object store on the same disk use the same space, also
// those of an earlier process, until they are collected.
func TestDiskLimitOfBlobs(t *testing.T) {
	t.Parallel()
	bucket, dir := new(memstore.Bucket), t.TempDir()
	open := func(count bool) *dataplane.Volumes {
		cfg := config(t, bucket, dir)
		cfg.DiskLimit, cfg.CountBlobs = diskLimit, count
		v, err := dataplane.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = v.Close() })
		return v
	}
	const size = 200_000 // below what is kept on the disk too
	put := func(v *dataplane.Volumes) (string, error) {
		return v.Blobs().Put(t.Context(), bytes.NewReader(make([]byte, size)), size)
	}
	fill := func(v *dataplane.Volumes) (keys []string) {
		for range 2 * diskLimit / size {
			key, err := put(v)
			if svc.CodeOf(err) == svc.CodeVersionDiskFull {
				return keys
			}
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		t.Fatal("it is never full")
		return nil
	}
	v := open(true)
	db := database(t, v, "a")
	exec(t, db, "CREATE TABLE t(x)")
	keys := fill(v)
	if len(keys) < diskLimit/size/2 {
		t.Fatalf("%d blobs of %d bytes", len(keys), size)
	}
	if rows := fillUp(t, db); rows > 1 {
		t.Errorf("%d rows of a megabyte fit beside the blobs", rows)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	v = open(true)
	if more := fill(v); len(more) > len(keys)/2 {
		t.Errorf("%d more blobs in the next process", len(more))
	}
	if err := errors.Join(v.Close(), bucket.Delete(t.Context(), keys[:10]...)); err != nil {
		t.Fatal(err)
	}
	v = open(true)
	if _, err := put(v); err != nil {
		t.Errorf("after blobs were deleted: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	v = open(false)
	for range keys {
		if _, err := put(v); err != nil {
			t.Fatalf("with an object store elsewhere: %v", err)
		}
	}
}

// TestFailedWritesAreLogged: of the writes that fail because of the disk, the log has one
// line a minute; of those that the worker causes, none.
func TestFailedWritesAreLogged(t *testing.T) {
	t.Parallel()
	var log svctest.Buffer
	cfg := config(t, new(memstore.Bucket), t.TempDir())
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	v, err := dataplane.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	db := database(t, v, "a")
	exec(t, db, "CREATE TABLE t(x UNIQUE)")
	exec(t, db, "INSERT INTO t VALUES (1)")
	for _, tc := range []struct {
		sql   string
		lines int // in all
	}{
		{"INSERT INTO t VALUES (1)", 0},
		{"INSERT INTO t VALUES (zeroblob(1000000))", 1},
		{"INSERT INTO t VALUES (zeroblob(1000000))", 1},
	} {
		err := db.Write(t.Context(), func(c *raw.Conn) error {
			if err := c.Query("PRAGMA max_page_count = 8", nil, func(*raw.Stmt) error { return nil }); err != nil {
				return err
			}
			return c.Exec(tc.sql)
		})
		if err == nil {
			t.Fatalf("%s succeeded", tc.sql)
		}
		if n := strings.Count(log.String(), "a write to a database failed"); n != tc.lines {
			t.Errorf("%s: %d lines, want %d\n%s", tc.sql, n, tc.lines, log.String())
		}
	}
	if text := log.String(); !strings.Contains(text, "database=a.sqlite") || !strings.Contains(text, "SQLITE_FULL") || !strings.Contains(text, "disk_free=") {
		t.Errorf("%s", text)
	}
}
