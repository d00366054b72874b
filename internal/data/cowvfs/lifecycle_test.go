package cowvfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// life attaches path, runs fn with a writer, closes and detaches.
func life(t *testing.T, o cowvfs.Options, fn func(*cowvfs.File, *raw.Conn)) {
	t.Helper()
	f, err := cowvfs.Attach(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openWriter(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	fn(f, c)
	if err := errors.Join(c.Close(), f.Detach()); err != nil {
		t.Fatal(err)
	}
}

// TestReopen closes the file after each life, which copies the WAL into the file and deletes
// it: the next life continues with the next transaction, and ships little.
func TestReopen(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	at := ltx.TXID(0)
	for n := range 6 {
		life(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{TXID: newest(store)}}, func(f *cowvfs.File, c *raw.Conn) {
			if n == 0 {
				run(t, c, `CREATE TABLE t(id INTEGER PRIMARY KEY, v)`)
				run(t, c, `INSERT INTO t(v) SELECT randomblob(9000) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')`)
			}
			run(t, c, `UPDATE t SET v = randomblob(100) WHERE id = ?`, n)
			if n%2 == 0 { // in other lives everything is staged when the WAL is deleted
				same(t, f, store, c)
			}
			if id := f.TXID(); id > at+2 {
				t.Errorf("life %d: from transaction %s to %s", n, at, id)
			}
			at = f.TXID()
		})
		if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("life %d leaves a WAL: %v", n, err)
		}
	}
	entries, err := os.ReadDir(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries[1:] {
		if info, err := e.Info(); err != nil || info.Size() > 30000 {
			t.Errorf("%s has %d bytes: the whole database was shipped again", e.Name(), info.Size())
		}
	}
}

// TestUnshipped: after a restart the same transaction has the same bytes, although more was
// written since.
func TestUnshipped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	o := cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}}
	var first []byte
	life(t, o, func(f *cowvfs.File, c *raw.Conn) {
		run(t, c, `CREATE TABLE t(v)`)
		s, ok, err := f.Next()
		if err != nil || !ok || s.TXID != 1 {
			t.Fatalf("took %v, %v, %v", s, ok, err)
		}
		first, _ = os.ReadFile(s.Path)
		run(t, c, `INSERT INTO t VALUES (1)`)
	})
	life(t, o, func(f *cowvfs.File, c *raw.Conn) {
		s, ok, err := f.Next()
		if err != nil || !ok || s.TXID != 1 {
			t.Fatalf("took %v, %v, %v", s, ok, err)
		}
		if again, _ := os.ReadFile(s.Path); string(again) != string(first) {
			t.Error("the segment has changed")
		}
		if s, ok, err = f.Next(); err != nil || !ok || s.TXID != 2 {
			t.Fatalf("then took %v, %v, %v", s, ok, err)
		}
		if err := f.Shipped(2); err != nil {
			t.Fatal(err)
		}
		if s, ok, err = f.Next(); err != nil || ok {
			t.Fatalf("after all took %v, %v, %v", s, ok, err)
		}
	})
	left, err := filepath.Glob(path + "-ltx/*")
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "position" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestShippedInPart continues, after a restart, from segments of which the first ones were
// shipped.
func TestShippedInPart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	o := cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}}
	life(t, o, func(f *cowvfs.File, c *raw.Conn) {
		for _, text := range []string{`CREATE TABLE t(v)`, `INSERT INTO t VALUES (1)`, `INSERT INTO t VALUES (2)`} {
			run(t, c, text)
			if _, err := f.Stage(); err != nil {
				t.Fatal(err)
			}
		}
		for want := range ltx.TXID(2) {
			if s, ok, err := f.Next(); err != nil || !ok || s.TXID != want+1 {
				t.Fatalf("took %v, %v, %v", s, ok, err)
			}
		}
		if err := f.Shipped(2); err != nil {
			t.Fatal(err)
		}
	})
	o.Capture.TXID = 2
	life(t, o, func(f *cowvfs.File, _ *raw.Conn) {
		if s, ok, err := f.Next(); err != nil || !ok || s.TXID != 3 {
			t.Errorf("took %v, %v, %v", s, ok, err)
		}
	})
}

func TestBehind(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	life(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}}, func(f *cowvfs.File, c *raw.Conn) {
		run(t, c, `CREATE TABLE t(v)`)
		takeAll(t, f, t.TempDir())
	})
	for name, spoil := range map[string]func() ltx.TXID{
		"the log has more": func() ltx.TXID { return 2 },
		"a segment is missing": func() ltx.TXID {
			b, err := os.ReadFile(path + "-ltx/position")
			if err == nil {
				b[31] = 9 // MaxTXID
				err = os.WriteFile(path+"-ltx/"+ltx.FormatFilename(9, 9), b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			return 1
		},
	} {
		if _, err := cowvfs.Attach(t.Context(), cowvfs.Options{Path: path, Capture: &cowvfs.Capture{TXID: spoil()}}); !errors.Is(err, cowvfs.ErrBehind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	f := attach(t, cowvfs.Options{Path: path})
	if _, err := cowvfs.Attach(t.Context(), cowvfs.Options{Path: path}); !errors.Is(err, cowvfs.ErrInUse) {
		t.Errorf("attached twice: %v", err)
	}
	open(t, path)
	if err := f.Detach(); !errors.Is(err, cowvfs.ErrInUse) {
		t.Errorf("detached with a connection: %v", err)
	}
}

// TestRejected tries statements by which a commit would not be captured.
func TestRejected(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	f := attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}})
	c := open(t, path)
	run(t, c, `CREATE TABLE t(v)`)
	for _, sql := range []string{`PRAGMA journal_mode = DELETE`, `PRAGMA main.journal_mode = 'OFF'`, `pragma Journal_Mode = memory`, `PRAGMA locking_mode = EXCLUSIVE`} {
		if err := c.Exec(sql); err == nil || !strings.Contains(err.Error(), "must stay") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{`PRAGMA journal_mode`, `PRAGMA journal_mode = WAL`, `PRAGMA locking_mode`, `PRAGMA user_version = 3`} {
		run(t, c, sql)
	}
	same(t, f, store, c)
}

// TestStagingFails: when the segment before a restart of the WAL cannot be written, nothing is
// lost: the write fails, and works again later.
func TestStagingFails(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	f := attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}})
	c := open(t, path)
	run(t, c, `CREATE TABLE t(v)`)
	same(t, f, store, c)
	run(t, c, `INSERT INTO t VALUES ('first')`)
	if err := os.Rename(path+"-ltx", path+"-gone"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Next(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("staged without a directory: %v", err)
	}
	run(t, c, `PRAGMA wal_checkpoint(RESTART)`)
	var e *raw.Error
	if err := c.Exec(`INSERT INTO t VALUES ('refused')`); !errors.As(err, &e) || e.Code != 778 {
		t.Errorf("overwrote frames that are not staged: %v", err)
	}
	if err := os.Rename(path+"-gone", path+"-ltx"); err != nil {
		t.Fatal(err)
	}
	run(t, c, `INSERT INTO t VALUES ('second')`)
	same(t, f, store, c)
}

func TestClaimSegment(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	copyBase(t, path)
	o := cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}}
	var id ltx.TXID
	claim := func(f *cowvfs.File, c *raw.Conn) {
		t.Helper()
		s, err := f.ClaimSegment()
		if id++; err != nil || s.TXID != id {
			t.Fatalf("claimed %v, %v", s, err)
		}
		b, err := os.ReadFile(s.Path)
		if err == nil {
			err = errors.Join(create(filepath.Join(store, filepath.Base(s.Path)), b), f.Shipped(s.TXID))
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, f, store, c)
	}
	life(t, o, func(f *cowvfs.File, c *raw.Conn) {
		claim(f, c) // a snapshot of an existing file
		claim(f, c) // no WAL yet
		run(t, c, `INSERT INTO log VALUES (1)`)
		claim(f, c)                          // the segment of the write
		run(t, c, `PRAGMA user_version = 7`) // changes page 1
		claim(f, c)
		claim(f, c) // page 1 of the WAL
	})
	life(t, o, claim)
}

// TestClaimEmptyDatabase: a database that was never written to has no WAL, and one page or none.
func TestClaimEmptyDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	life(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}}, func(f *cowvfs.File, c *raw.Conn) {
		s, err := f.ClaimSegment()
		if err != nil || s.TXID != 1 {
			t.Fatalf("claimed %v, %v", s, err)
		}
		if err := f.Shipped(1); err != nil {
			t.Fatal(err)
		}
		run(t, c, `CREATE TABLE t(v)`)
		if s, ok, err := f.Next(); err != nil || !ok || s.TXID != 2 {
			t.Errorf("took %v, %v, %v", s, ok, err)
		}
	})
}

// TestNotify: Notify is called for each commit, and for nothing else.
func TestNotify(t *testing.T) {
	t.Parallel()
	n := 0
	path := filepath.Join(t.TempDir(), "a.db")
	attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{Notify: func() { n++ }}})
	c := open(t, path)
	run(t, c, `CREATE TABLE t(v)`)
	n = 0
	run(t, c, `INSERT INTO t VALUES (1)`)
	if n != 1 {
		t.Errorf("%d notifications of one commit", n)
	}
	run(t, c, `SELECT * FROM t`)
	run(t, c, `DELETE FROM t WHERE v = 2`)
	if err := c.InTx("BEGIN IMMEDIATE", func() error { return errors.Join(c.Exec(`INSERT INTO t VALUES (1)`), errUndo) }); !errors.Is(err, errUndo) {
		t.Fatal(err)
	}
	run(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if n != 1 {
		t.Errorf("%d notifications, some without a commit", n)
	}
}

// TestCut copies a file at a cut while it is written to.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, before := range []string{`SELECT 1`, `PRAGMA wal_checkpoint(PASSIVE)`, `PRAGMA wal_checkpoint(RESTART)`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			dir, store := t.TempDir(), t.TempDir()
			f := attach(t, cowvfs.Options{Path: filepath.Join(dir, "a.db"), Capture: &cowvfs.Capture{}})
			c := open(t, f.Path())
			makeRows(t, c)
			run(t, c, before)
			if before == `SELECT 1` {
				if _, _, err := f.Hold(t.Context()); err == nil {
					t.Error("held with frames that were not staged")
				}
			}
			takeAll(t, f, store)
			want, err := crashtest.Content(c)
			if err != nil {
				t.Fatal(err)
			}
			cut, release, err := f.Hold(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 5 { // the parent keeps writing, and tries to copy and to restart its WAL
				run(t, c, `UPDATE t SET v = zeroblob(1990 + id % 10)`)
				run(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
			}
			clone := filepath.Join(dir, "clone.db")
			src, err := cowvfs.OpenCut(cut)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			shared, err := src.Clone(t.Context(), clone, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := src.Clone(t.Context(), clone+"2", true); (err == nil) != shared || err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("shared is %v, but sharing only: %v", shared, err)
			}
			lazy := attach(t, cowvfs.Options{Path: filepath.Join(dir, "lazy.db"), Source: src, Capture: &cowvfs.Capture{TXID: cut.TXID}})
			l := open(t, lazy.Path())
			if got, err := crashtest.Check(l); err != nil || got != want {
				t.Errorf("the lazy child has %s, %v, not %s", got, err, want)
			}
			if got, err := crashtest.Sound(clone); err != nil || got != want {
				t.Errorf("the clone has %s, %v, not %s", got, err, want)
			}
			release()
			release()
			run(t, c, `PRAGMA wal_checkpoint(TRUNCATE)`)
			if info, err := os.Stat(f.Path() + "-wal"); err != nil || info.Size() != 0 {
				t.Errorf("after the release the WAL was not truncated: %v", err)
			}
			same(t, f, store, c)
		})
	}
}

func makeRows(t testing.TB, c *raw.Conn) {
	t.Helper()
	if err := c.Script(schema + `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 300) INSERT INTO t(k, v) SELECT 'k'||i, CAST(printf('%d%.*c', i, 2000, 'y') AS BLOB) FROM n;`); err != nil {
		t.Fatal(err)
	}
}

// TestReconnect closes the last connection, which ends the WAL, and opens others while the file
// stays attached and, at times, held.
func TestReconnect(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "a.db"), t.TempDir()
	f := attach(t, cowvfs.Options{Path: path, Capture: &cowvfs.Capture{}})
	for n := range 8 {
		c, err := openWriter(f.Path())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			makeRows(t, c)
		}
		run(t, c, `UPDATE t SET v = zeroblob(1990 + ?) WHERE id % 10 = ?`, n, n)
		if n%2 == 1 {
			run(t, c, `PRAGMA wal_checkpoint(PASSIVE)`)
		}
		release := func() {}
		if n%4 >= 2 { // a held file stays unchanged, even after the last connection
			same(t, f, store, c)
			var cut cowvfs.Cut
			if cut, release, err = f.Hold(t.Context()); err != nil {
				t.Fatal(err)
			}
			src, err := cowvfs.OpenCut(cut)
			if err != nil {
				t.Fatal(err)
			}
			want, err := crashtest.Content(c)
			if err := errors.Join(err, c.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := src.Clone(t.Context(), path+".clone", false); err != nil {
				t.Fatal(err)
			}
			if got, err := crashtest.Sound(path + ".clone"); err != nil || got != want {
				t.Errorf("the clone has %s, %v, not %s", got, err, want)
			}
			src.Close()
		} else if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		release()
	}
	same(t, f, store, open(t, f.Path()))
}
