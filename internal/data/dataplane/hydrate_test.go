package dataplane_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
)

// TestHydrationContinues: missing pages are read by the next process, and do not overwrite pages written
// in between.
func TestHydrationContinues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v := openOn(t, bucket, dir)
		exec(t, database(t, v, "a"), `CREATE TABLE t(x INTEGER PRIMARY KEY, v);
			WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, randomblob(3000) FROM n`)
		closed(t, v)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		lives := 0
		for partial := true; partial && lives < 20; lives++ {
			v := openOn(t, bucket, dir)
			exec(t, database(t, v, "a"), fmt.Sprintf("UPDATE t SET v = 'new' WHERE x IN (%d, %d)", 2000-lives, 90*lives+1))
			time.Sleep(2*time.Second + 41*time.Millisecond) // two steps after the delay
			closed(t, v)
			partial = cowvfs.Partial(fileIn(dir, "a"))
		}
		if lives < 3 || lives == 20 {
			t.Errorf("the file was complete after %d lives", lives)
		}
		if n := ask(t, fileIn(dir, "a"), "SELECT sum(v = 'new') * 10000 + count(*) FROM t"); n != int64(2*lives*10000+2000) {
			t.Errorf("got %d after %d lives", n, lives)
		}
		if err := archive(t, bucket, dir); err != nil { // compares the file with the log
			t.Error(err)
		}
	})
}

// TestHydrationKeepsItsSource: files from which a database reads missing pages are not marked for
// deletion. They are once the database is complete, or archived.
func TestHydrationKeepsItsSource(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v := openWith(t, way, dir, inSync)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		write := func(v *dataplane.Volumes, n int) {
			for range n {
				exec(t, database(t, v, "a"), "INSERT INTO t VALUES (1, '')")
			}
			pass(time.Second)
		}
		reopen := func() *dataplane.Volumes {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			return openWith(t, way, dir, inSync)
		}
		v = reopen()
		write(v, 70)
		if merged, dead := superseded(t, way); merged == 0 || dead > 0 {
			t.Errorf("%d merged files, %d dead lists while pages are missing", merged, dead)
		}
		pass(time.Minute)
		write(v, 70)
		if _, dead := superseded(t, way); dead == 0 {
			t.Error("nothing is marked after the file is complete")
		}
		closed(t, v)

		v = reopen()
		_, before := superseded(t, way)
		write(v, 40)
		if err := v.Archive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, dead := superseded(t, way); dead == before {
			t.Error("nothing is marked when it is archived")
		}
	})
}
