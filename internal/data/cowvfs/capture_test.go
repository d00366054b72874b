package cowvfs_test

import (
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// same checks that the segments up to the last one give the database that c sees.
func same(t testing.TB, f *cowvfs.File, store string, c *raw.Conn) {
	t.Helper()
	id := takeAll(t, f, store)
	want, err := crashtest.Content(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rebuilt.db")
	if err := rebuild(store, 0, id, "", path); err != nil {
		t.Fatal(err)
	}
	got, err := crashtest.Sound(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("after transaction %s the segments have %s, the database %s", id, got, want)
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	f := attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}})
	c := open(t, path)
	for _, sql := range []string{
		`CREATE TABLE t(id INTEGER PRIMARY KEY, v)`,
		`INSERT INTO t(v) SELECT randomblob(3000) FROM json_each('[1,2,3,4,5,6,7,8,9]')`,
		`INSERT INTO t(v) SELECT randomblob(3000) FROM t, t`,
		`CREATE INDEX i ON t(v)`,
		`PRAGMA wal_checkpoint(PASSIVE)`,
		`DELETE FROM t WHERE id > 50`,
		`PRAGMA wal_checkpoint(TRUNCATE)`,
		`VACUUM`,
		`INSERT INTO t(v) VALUES (1)`,
		`PRAGMA wal_checkpoint(RESTART)`,
		`INSERT INTO t(v) VALUES (2)`,
		`DROP INDEX i`,
	} {
		run(t, c, sql)
		same(t, f, store, c)
	}
	if f.Pending() {
		t.Error("a segment is pending after the last one")
	}
}
