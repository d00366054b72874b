package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite"
)

func open(t *testing.T, path string, o sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func temp(t *testing.T) string { return filepath.Join(t.TempDir(), "test.db") }

func exec(t *testing.T, db *sqlite.DB, query string) {
	t.Helper()
	if err := db.InTx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), query)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func value[T any](t *testing.T, db *sqlite.DB, query string) (v T) {
	t.Helper()
	if err := db.Read().QueryRowContext(t.Context(), query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFullDisk: the error of a full disk is ENOSPC, as for every other file.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	db := open(t, temp(t), sqlite.Options{})
	exec(t, db, "PRAGMA max_page_count = 4")
	exec(t, db, "CREATE TABLE t(v)")
	err := db.InTx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (zeroblob(100000))")
		return err
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestPragmas(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		o    sqlite.Options
		sync int
		busy int
	}{
		{sqlite.Options{}, 2, 10_000},
		{sqlite.Options{Synchronous: sqlite.Full}, 2, 10_000},
		{sqlite.Options{Synchronous: sqlite.Normal, BusyTimeout: time.Second}, 1, 1000},
	} {
		db := open(t, temp(t), tc.o)
		check := func(where string, row func(string) *sql.Row) {
			var mode string
			var syn, fk, busy int
			err := errors.Join(
				row("PRAGMA journal_mode").Scan(&mode), row("PRAGMA synchronous").Scan(&syn),
				row("PRAGMA foreign_keys").Scan(&fk), row("PRAGMA busy_timeout").Scan(&busy))
			if err != nil || mode != "wal" || syn != tc.sync || fk != 1 || busy != tc.busy {
				t.Errorf("%s of %+v: journal_mode %s, synchronous %d, foreign_keys %d, busy_timeout %d, %v", where, tc.o, mode, syn, fk, busy, err)
			}
		}
		check("reader", func(q string) *sql.Row { return db.Read().QueryRowContext(t.Context(), q) })
		if err := db.InTx(t.Context(), func(tx *sql.Tx) error {
			check("writer", func(q string) *sql.Row { return tx.QueryRowContext(t.Context(), q) })
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPath opens names with special characters of URIs, and checks that only the owner
// can read the files.
func TestPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "a b.db", "50%20off.db", "what?mode=ro.db", "hash#.db", "ünï&cödé=.db"} {
		path := filepath.Join(t.TempDir(), name)
		db := open(t, path, sqlite.Options{})
		exec(t, db, "CREATE TABLE t (x)")
		if db.Path() != path {
			t.Errorf("Path() = %s, want %s", db.Path(), path)
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Error(err)
				continue
			}
			if info.Mode() != 0o600 {
				t.Errorf("%s has mode %v", info.Name(), info.Mode())
			}
		}
	}
}

func TestOpenRejects(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "notes.txt")
	const notes = "this is no database, and it is longer than a header of one hundred bytes would be, by far, to be sure about that"
	if err := os.WriteFile(text, []byte(notes), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"missing folder": filepath.Join(t.TempDir(), "none", "x.db"),
		"a folder":       t.TempDir(),
		"a text":         text,
	} {
		if db, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil {
			t.Errorf("%s was opened", name)
			_ = db.Close()
		}
	}
	if got, err := os.ReadFile(text); err != nil || string(got) != notes {
		t.Errorf("the text is now %q, %v", got, err)
	}
}

func TestInTxRollsBack(t *testing.T) {
	t.Parallel()
	db := open(t, temp(t), sqlite.Options{})
	exec(t, db, "CREATE TABLE t (x)")
	boom := errors.New("boom")
	insert := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
		return err
	}
	if err := db.InTx(t.Context(), func(tx *sql.Tx) error {
		return errors.Join(insert(t.Context(), tx), boom)
	}); !errors.Is(err, boom) {
		t.Errorf("err = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.InTx(ctx, func(tx *sql.Tx) error {
		defer cancel()
		return insert(ctx, tx)
	}); err == nil {
		t.Error("a canceled transaction was committed")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = db.InTx(t.Context(), func(tx *sql.Tx) error {
			if err := insert(t.Context(), tx); err != nil {
				return err
			}
			panic("boom")
		})
	}()
	if n := value[int](t, db, "SELECT count(*) FROM t"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	exec(t, db, "INSERT INTO t VALUES (1)") // the writer is unlocked
}

func TestReadersSeeOneStateAndCannotWrite(t *testing.T) {
	t.Parallel()
	db := open(t, temp(t), sqlite.Options{})
	exec(t, db, "CREATE TABLE t (x)")
	if err := db.InReadTx(t.Context(), func(tx *sql.Tx) error {
		for range 3 {
			var n int
			if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != 0 {
				t.Errorf("count = %d, %v", n, err)
			}
			exec(t, db, "INSERT INTO t VALUES (1)") // the writer does not wait for the reader
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err == nil {
			t.Error("a reader wrote")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, db, "SELECT count(*) FROM t"); n != 3 {
		t.Errorf("count = %d", n)
	}
}

func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	path := temp(t)
	// Two handles act as two processes: they share only the file's lock.
	dbs := []*sqlite.DB{
		open(t, path, sqlite.Options{Synchronous: sqlite.Normal}),
		open(t, path, sqlite.Options{Synchronous: sqlite.Normal}),
	}
	exec(t, dbs[0], "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)")
	const writers, each = 16, 10
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for range each {
				err := dbs[i%2].InTx(t.Context(), func(tx *sql.Tx) error {
					var n int
					if err := tx.QueryRowContext(t.Context(), "SELECT n FROM t").Scan(&n); err != nil {
						return err
					}
					_, err := tx.ExecContext(t.Context(), "UPDATE t SET n = ?", n+1)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := value[int](t, dbs[0], "SELECT n FROM t"); n != writers*each {
		t.Errorf("n = %d, want %d: updates were lost", n, writers*each)
	}
}

func TestConstraintErrors(t *testing.T) {
	t.Parallel()
	db := open(t, temp(t), sqlite.Options{})
	exec(t, db, `CREATE TABLE p (id TEXT PRIMARY KEY, u TEXT UNIQUE); CREATE TABLE c (p TEXT REFERENCES p (id)); INSERT INTO p VALUES ('a', 'b')`)
	for query, want := range map[string][2]bool{ // unique, foreign key
		"INSERT INTO p VALUES ('a', 'x')": {true, false},
		"INSERT INTO p VALUES ('x', 'b')": {true, false},
		"INSERT INTO c VALUES ('x')":      {false, true},
		"INSERT INTO nowhere VALUES (1)":  {false, false},
	} {
		err := db.InTx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), query)
			return err
		})
		if got := [2]bool{sqlite.IsUnique(err), sqlite.IsForeignKey(err)}; err == nil || got != want {
			t.Errorf("%s: %v: unique, foreign key = %v, want %v", query, err, got, want)
		}
	}
}
