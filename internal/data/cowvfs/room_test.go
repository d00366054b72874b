package cowvfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// TestWALRoom: a transaction whose frames need more than WALRoom allows fails and leaves
// nothing; smaller ones succeed.
func TestWALRoom(t *testing.T) {
	t.Parallel()
	const room = 6 << 20
	f := attach(t, cowvfs.Options{Path: filepath.Join(t.TempDir(), "a.db"), Capture: &cowvfs.Capture{}, WALRoom: func() int64 { return room }})
	c := open(t, f.Path())
	script(t, c, `PRAGMA cache_size = -100; CREATE TABLE t(x)`)
	for range 3 {
		err := c.InTx("BEGIN", func() error {
			return c.Script(`WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20) INSERT INTO t SELECT randomblob(1000000) FROM n`)
		})
		var e *raw.Error
		if !errors.As(err, &e) || e.Code.Primary() != raw.Full {
			t.Errorf("inserting 20 MB: %v", err)
		}
		script(t, c, `INSERT INTO t VALUES (randomblob(100000)); PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	if info, err := os.Stat(f.Path() + "-wal"); err != nil || info.Size() > room {
		t.Errorf("the WAL has %d bytes, %v", info.Size(), err)
	}
	store := t.TempDir()
	same(t, f, store, c)
}

func script(t *testing.T, c *raw.Conn, text string) {
	t.Helper()
	if err := c.Script(text); err != nil {
		t.Fatal(err)
	}
}

// TestWALSize: the length of the WAL that is noted is that of its file.
func TestWALSize(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	options := cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}}
	f := attach(t, options)
	c := open(t, f.Path())
	check := func(when string, empty bool) {
		t.Helper()
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if n := f.WALSize(); n != info.Size() || (n == 0) != empty {
			t.Errorf("%s: noted are %d bytes, the file has %d", when, n, info.Size())
		}
	}
	script(t, c, `CREATE TABLE t(x); INSERT INTO t VALUES (randomblob(100000))`)
	check("after a write", false)
	script(t, c, `PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (1)`)
	check("after it began anew", false)
	script(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
	check("after it was truncated", true)
	script(t, c, `INSERT INTO t VALUES (2)`)
	check("after the next write", false)
}
