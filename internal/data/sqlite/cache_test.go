package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite"
)

// TestCompiledOnce: a statement that is used again, within its own rows, after an error, after a
// canceled use and after a change of the schema returns what it returns when it is new.
func TestCompiledOnce(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Options{Readers: 1})
	exec(t, db, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE) STRICT")
	insert := func(v string) error {
		return db.InTx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (?)", v)
			return err
		})
	}
	for _, v := range []string{"a", "b"} {
		if err := insert(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := insert("a"); !sqlite.IsUnique(err) {
		t.Errorf("a value that exists: %v", err)
	}
	if err := insert("c"); err != nil {
		t.Errorf("after an error: %v", err)
	}
	pairs := func() (got string) {
		t.Helper()
		if err := db.InReadTx(t.Context(), func(tx *sql.Tx) (err error) { got, err = nested(t.Context(), tx); return err }); err != nil {
			t.Error(err)
		}
		return got
	}
	const want = "a:abc b:abc c:abc "
	for range 2 {
		if got := pairs(); got != want {
			t.Errorf("a query within the rows of an equal one: %q, want %q", got, want)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Read().QueryContext(gone, all); err == nil { //nolint:sqlclosecheck,rowserrcheck // there are no rows
		t.Error("a query in a context that has ended")
	}
	exec(t, db, "ALTER TABLE t ADD COLUMN w TEXT NOT NULL DEFAULT 'x'")
	exec(t, db, "UPDATE t SET v = 'd' WHERE v = 'c'")
	if got := pairs(); got != "a:abd b:abd d:abd " {
		t.Errorf("after a change of the schema: %q", got)
	}
	var columns int
	for range 2 { // more texts than are kept
		for i := range 200 {
			columns = value[int](t, db, fmt.Sprintf("SELECT %d + count(*) FROM pragma_table_info('t')", i)) - i
		}
	}
	if columns != 3 {
		t.Errorf("%d columns", columns)
	}
}

const all = "SELECT v FROM t ORDER BY id"

// nested reads all values once for each value.
func nested(ctx context.Context, tx *sql.Tx) (string, error) {
	return values(ctx, tx, func(v string) (string, error) {
		inner, err := values(ctx, tx, func(v string) (string, error) { return v, nil })
		return v + ":" + inner + " ", err
	})
}

func values(ctx context.Context, tx *sql.Tx, each func(v string) (string, error)) (got string, err error) {
	rows, err := tx.QueryContext(ctx, all)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			return "", err
		}
		one, err := each(v)
		if err != nil {
			return "", err
		}
		if got += one; len(got) > 1000 {
			return got, nil // rows that begin again
		}
	}
	return got, rows.Err()
}
