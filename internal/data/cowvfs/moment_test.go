package cowvfs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// headerOf reads the header of the segment of a transaction.
func headerOf(t *testing.T, store string, id ltx.TXID) ltx.Header {
	t.Helper()
	f, err := os.Open(filepath.Join(store, ltx.FormatFilename(id, id)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, _, err := ltx.PeekHeader(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// rowsAt counts the rows of t as of a transaction.
func rowsAt(t *testing.T, store string, id ltx.TXID) (n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rebuilt.db")
	if err := rebuild(store, 0, id, "", path); err != nil {
		t.Fatal(err)
	}
	c := openReader(t, path)
	if err := c.Query(`SELECT count(*) FROM t`, nil, func(s *raw.Stmt) error { n = int(s.Int64(0)); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMoment: the segment of a moment ends with what was committed then, whatever is committed before it is
// made, and nothing is written when the moment is noted. Also when the WAL restarts in between.
func TestMoment(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]string{"commits": `INSERT INTO t(v) VALUES (2)`, "a restart": `PRAGMA wal_checkpoint(RESTART)`} {
		path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
		later := int64(100)
		f := attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{
			Clock: func() cowvfs.Stamp { later++; return cowvfs.Stamp{Time: later, Node: 1} },
		}})
		c := open(t, path)
		run(t, c, `CREATE TABLE t(id INTEGER PRIMARY KEY, v)`)
		takeAll(t, f, store)
		run(t, c, `INSERT INTO t(v) VALUES (1)`)
		m := cowvfs.NewMoment()
		id, fresh, err := f.Note(m)
		if err != nil || !fresh || id != f.TXID()+1 {
			t.Fatalf("%s: noted %v of %v, %v, %v", name, id, f.TXID(), fresh, err)
		}
		m.Settle(cowvfs.Stamp{Time: 7, Node: 70})
		run(t, c, between)
		run(t, c, `INSERT INTO t(v) VALUES (3)`)
		second := cowvfs.NewMoment()
		second.Settle(cowvfs.Stamp{Time: 8, Node: 80})
		last, _, err := f.Note(second)
		if err != nil || last != id+1 {
			t.Fatalf("%s: noted %v after %v, %v", name, last, id, err)
		}
		run(t, c, `INSERT INTO t(v) VALUES (4)`)
		if got, err := f.StageNoted(); err != nil || got != last {
			t.Fatalf("%s: staged up to %v, %v; want %v", name, got, err, last)
		}
		if end := takeAll(t, f, store); end != last+1 {
			t.Errorf("%s: the last transaction is %v, want %v", name, end, last+1)
		}
		if h := headerOf(t, store, id); h.Timestamp != 7 || h.NodeID != 70 || rowsAt(t, store, id) != 1 {
			t.Errorf("%s: the moment has the stamp %d, %d and %d rows", name, h.Timestamp, h.NodeID, rowsAt(t, store, id))
		}
		all := 2
		if name == "commits" {
			all = 3
		}
		if h := headerOf(t, store, last); h.Timestamp != 8 || rowsAt(t, store, last) != all || rowsAt(t, store, last+1) != all+1 {
			t.Errorf("%s: the second moment has %d rows at %d", name, rowsAt(t, store, last), h.Timestamp)
		}
		if h := headerOf(t, store, last+1); h.NodeID != 1 || h.Timestamp <= 100 {
			t.Errorf("%s: what follows has the stamp %d, %d", name, h.Timestamp, h.NodeID)
		}
	}
}

// TestMomentOfNothing: a file without commits since its last segment gets none, until StageEmpty.
func TestMomentOfNothing(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	f := attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}})
	c := open(t, path)
	run(t, c, `CREATE TABLE t(id INTEGER PRIMARY KEY, v)`)
	run(t, c, `INSERT INTO t(v) VALUES (1)`)
	at := takeAll(t, f, store)
	m := cowvfs.NewMoment()
	if id, fresh, err := f.Note(m); id != at || fresh || err != nil {
		t.Errorf("noted %v, %v, %v; want %v", id, fresh, err, at)
	}
	if err := f.StageEmpty(cowvfs.Stamp{Time: 9, Node: 90}); err != nil {
		t.Fatal(err)
	}
	run(t, c, `INSERT INTO t(v) VALUES (2)`)
	takeAll(t, f, store)
	if h := headerOf(t, store, at+1); h.NodeID != 90 || rowsAt(t, store, at+1) != 1 || rowsAt(t, store, at+2) != 2 {
		t.Errorf("the empty segment has the stamp %d, %d", h.Timestamp, h.NodeID)
	}
}
