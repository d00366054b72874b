package dataplane_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// fill makes a database of 500 kB in which one row is about a page.
const fill = `CREATE TABLE t(x, v);
	WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 150) INSERT INTO t SELECT 0, randomblob(3000) FROM n`

// small is more than a transaction of one row takes, and far less than fill.
const small = 30_000

func fileIn(dir, name string) string { return filepath.Join(dir, "db", name+".sqlite") }

// as makes another node the owner.
func as(node string) func(*dataplane.Config) {
	return func(c *dataplane.Config) { c.Owner = svc.Owner{Node: node, Session: node} }
}

// TestReopenIsSmall: a process that continues from the cache of the previous one sends few requests
// and ships only new transactions.
func TestReopenIsSmall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openOn(t, way, dir)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		if way.bytes.Load() < 10*small {
			t.Errorf("%d bytes were shipped", way.bytes.Load())
		}
		for range 3 {
			requests, bytes := way.requests.Load(), way.bytes.Load()
			v := openOn(t, way, dir)
			db := database(t, v, "a")
			if pass(time.Hour); way.bytes.Load() != bytes || way.requests.Load() > requests+6 {
				t.Errorf("opening takes %d requests and ships %d bytes", way.requests.Load()-requests, way.bytes.Load()-bytes)
			}
			exec(t, db, "INSERT INTO t VALUES (1, 'small')")
			closed(t, v)
			if n := way.bytes.Load() - bytes; n == 0 || n > small {
				t.Errorf("a small write ships %d bytes", n)
			}
		}
		if n := restored(t, way.Bucket, "a", "SELECT count(*) FROM t"); n != 153 {
			t.Errorf("the log has %d rows", n)
		}
	})
}

// TestDirectoryGone: after the loss of the directory the database opens immediately, pages are read
// when they are needed, and a write ships little.
// spec: [C2.5]
func TestDirectoryGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openOn(t, way, dir)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		bytes := way.bytes.Load()
		v = openOn(t, way, dir)
		db := database(t, v, "a")
		if !cowvfs.Partial(fileIn(dir, "a")) {
			t.Error("all pages were fetched before the database was open")
		}
		exec(t, db, "INSERT INTO t VALUES (7, '')")
		if n := number(t, db, "SELECT sum(x) FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		pass(time.Minute)
		if n := way.bytes.Load() - bytes; n > small {
			t.Errorf("a small write ships %d bytes", n)
		}
		if cowvfs.Partial(fileIn(dir, "a")) {
			t.Error("pages are missing after a minute")
		}
		if n := number(t, db, "SELECT count(*) FROM t"); n != 151 {
			t.Errorf("%d rows", n)
		}
	})
}

// reboot makes the files in dir those of an earlier boot of the machine.
func reboot(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "boot"), []byte("another run"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAnotherBoot: files from before a power failure are not trusted where the log has the data.
func TestAnotherBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v := openOn(t, bucket, dir)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		broken := make([]byte, 4096)
		if err := os.WriteFile(fileIn(dir, "a"), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		reboot(t, dir)
		v = openOn(t, bucket, dir)
		if n := number(t, database(t, v, "a"), "SELECT count(*) FROM t"); n != 150 {
			t.Errorf("%d rows", n)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "stale*", "a*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

// TestAnotherBootOnlyCopy: files from before a power failure are used when they are the only copy.
func TestAnotherBootOnlyCopy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := onlyCopy(t)
		reboot(t, dir)
		v := openOn(t, way, dir)
		if n := number(t, database(t, v, "a"), "SELECT x FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (8)")
		closed(t, v)
		if n := restored(t, way.Bucket, "a", "SELECT sum(x) FROM t"); n != 15 {
			t.Errorf("the log has the sum %d", n)
		}
	})
}

// TestBehind: files that lack transactions of the log are deleted.
func TestBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir, old := new(memstore.Bucket), t.TempDir(), t.TempDir()
		v := openOn(t, bucket, dir)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		v = openOn(t, bucket, dir)
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (7, '')")
		closed(t, v)
		v = openOn(t, bucket, old)
		if n := number(t, database(t, v, "a"), "SELECT sum(x) FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (8, '')")
		closed(t, v)
		if n := restored(t, bucket, "a", "SELECT sum(x) FROM t"); n != 15 {
			t.Errorf("the log has the sum %d", n)
		}
	})
}

// TestOtherHistory: unshipped commits of a machine are deleted after another one took its data over.
func TestOtherHistory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, here, there := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir(), t.TempDir()
		v := openOn(t, way, here)
		exec(t, database(t, v, "a"), fill)
		pass(time.Minute)
		way.setAway(true)
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (100, '')")
		closed(t, v)
		way.setAway(false)
		other := openWith(t, way, there, as("other"))
		exec(t, database(t, other, "a"), "INSERT INTO t VALUES (7, '')")
		closed(t, other)
		for range 2 {
			v = openOn(t, way, here)
			if n := number(t, database(t, v, "a"), "SELECT sum(x) FROM t"); n != 7 {
				t.Errorf("got %d", n)
			}
			closed(t, v)
		}
	})
}

// TestShippedUnrecorded: a transaction that reached the log without an answer is not shipped again.
func TestShippedUnrecorded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openOn(t, way, dir)
		exec(t, database(t, v, "a"), fill)
		pass(time.Minute)
		way.setAway(true)
		exec(t, database(t, v, "a"), "INSERT INTO t VALUES (7, '')")
		closed(t, v)
		way.setAway(false)
		segments, err := filepath.Glob(fileIn(dir, "a") + "-ltx/*.ltx")
		if err != nil || len(segments) != 1 {
			t.Fatalf("staged: %v, %v", segments, err)
		}
		body, err := os.Open(segments[0])
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		key := "p/v1/db/a/ltx/0000/" + filepath.Base(segments[0])
		if _, err := way.Bucket.Put(t.Context(), key, body, -1, objstore.Condition{IfAbsent: true}); err != nil {
			t.Fatal(err)
		}
		before := way.appends.Load()
		v = openOn(t, way, dir)
		if n := number(t, database(t, v, "a"), "SELECT sum(x) FROM t"); n != 7 {
			t.Errorf("got %d", n)
		}
		if pass(time.Minute); way.appends.Load() != before {
			t.Errorf("%d transactions were shipped again", way.appends.Load()-before)
		}
	})
}
