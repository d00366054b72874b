package raw_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

func open(t *testing.T) *raw.Conn {
	t.Helper()
	c, err := raw.Open(filepath.Join(t.TempDir(), "x.sqlite"), raw.Options{Statements: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func script(t *testing.T, c *raw.Conn, text string) {
	t.Helper()
	if err := c.Script(text); err != nil {
		t.Fatal(err)
	}
}

// values returns the stored values of the rows of text.
func values(t *testing.T, c *raw.Conn, text string, args ...any) (out []any) {
	t.Helper()
	err := c.Query(text, args, func(s *raw.Stmt) error {
		for i := range s.Columns() {
			switch s.ColumnType(i) {
			case raw.Integer:
				out = append(out, s.Int64(i))
			case raw.Float:
				out = append(out, s.Float64(i))
			case raw.Text:
				out = append(out, s.Text(i))
			case raw.Blob:
				out = append(out, s.Blob(i))
			case raw.Null:
				out = append(out, nil)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestValues(t *testing.T) {
	t.Parallel()
	c := open(t)
	in := []any{nil, int64(-1 << 63), 7, 1.5, true, false, "", "é\x00z", []byte{}, []byte{0, 255}, strings.Repeat("x", 100_000)}
	want := []any{nil, int64(-1 << 63), int64(7), 1.5, int64(1), int64(0), "", "é\x00z", []byte{}, []byte{0, 255}, strings.Repeat("x", 100_000)}
	text := "SELECT " + strings.TrimSuffix(strings.Repeat("?,", len(in)), ",")
	for range 3 { // the statement is cached
		if diff := cmp.Diff(want, values(t, c, text, in...)); diff != "" {
			t.Fatal(diff)
		}
	}
	if got := values(t, c, text); cmp.Diff(make([]any, len(in)), got) != "" {
		t.Errorf("parameters were not cleared: %v", got)
	}
	if err := c.Exec("SELECT ?", struct{}{}); err == nil {
		t.Error("a struct is bound")
	}
}

// TestTextStays: dates are returned as the text that was written, whatever the type of
// the column.
func TestTextStays(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "CREATE TABLE t(a DATETIME, b TIMESTAMP, c BOOLEAN); INSERT INTO t VALUES ('2026-01-02 03:04', '2026-01-02T03:04:05Z', 1)")
	if diff := cmp.Diff([]any{"2026-01-02 03:04", "2026-01-02T03:04:05Z", int64(1)}, values(t, c, "SELECT * FROM t")); diff != "" {
		t.Error(diff)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)")
	for text, want := range map[string]raw.Error{
		"SELECT nope FROM t":       {Code: raw.Generic, Message: "no such column: nope", Offset: 7},
		"INSERT INTO t VALUES (1)": {Code: 2067, Message: "UNIQUE constraint failed: t.a", Offset: -1},
	} {
		var got *raw.Error
		if err := c.Exec(text); !errors.As(err, &got) || *got != want {
			t.Errorf("%s: %+v", text, err)
		}
	}
	if got := raw.Code(2067).String(); got != "SQLITE_CONSTRAINT_UNIQUE" {
		t.Errorf("got %s", got)
	}
	if raw.Code(2067).Primary() != raw.Constraint || raw.Code(99).String() != "SQLITE_99" {
		t.Error("codes are confused")
	}
	for _, text := range []string{"", "-- nothing", "SELECT 1; SELECT 2"} {
		if err := c.Exec(text); err == nil || !strings.Contains(err.Error(), "not one statement") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := raw.Open(filepath.Join(t.TempDir(), "no", "x"), raw.Options{}); err == nil {
		t.Error("a file in a missing directory was opened")
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	c := open(t)
	var got []string
	text := " CREATE TABLE t(a);\n\n-- x\nINSERT INTO t VALUES (';');;\n SELEC 1; DROP TABLE t"
	err := c.Each(text, func(at int, s *raw.Stmt, err error) error {
		got = append(got, fmt.Sprintf("%d %v", at, err))
		if err == nil {
			_, err = s.Step()
		}
		return err
	})
	want := []string{"1 <nil>", "21 <nil>", `53 near "SELEC": syntax error (SQLITE_ERROR)`}
	if diff := cmp.Diff(want, got); diff != "" || err == nil {
		t.Errorf("%v %s", err, diff)
	}
	if err := c.Script("SELECT 1; \x00 DROP TABLE t"); err == nil {
		t.Error("statements after a zero byte were ignored")
	}
}

// TestCacheAndAuthorizer: a cached statement does not run under an Authorizer that did
// not check it.
func TestCacheAndAuthorizer(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "CREATE TABLE t(a)")
	for i := range 10 { // more than the cache holds
		values(t, c, fmt.Sprintf("SELECT %d", i))
	}
	values(t, c, "SELECT a FROM t")
	var asked []raw.Action
	c.SetAuthorizer(func(a raw.Action) bool {
		asked = append(asked, a)
		return a.Verb != raw.VerbRead
	})
	var e *raw.Error
	if err := c.Exec("SELECT a FROM t"); !errors.As(err, &e) || e.Code != raw.Auth {
		t.Errorf("got %v", err)
	}
	if want := (raw.Action{Verb: raw.VerbRead, Arg1: "t", Arg2: "a", Database: "main"}); asked[len(asked)-1] != want {
		t.Errorf("asked %+v", asked)
	}
	c.SetAuthorizer(nil)
	values(t, c, "SELECT a FROM t")
}

// TestCacheNested: the cache does not return a statement that is in use.
func TestCacheNested(t *testing.T) {
	t.Parallel()
	c := open(t)
	const text = "SELECT 1 UNION SELECT 2 UNION SELECT 3"
	n := 0
	err := c.Query(text, nil, func(*raw.Stmt) error {
		return c.Query(text, nil, func(*raw.Stmt) error {
			n++
			return nil
		})
	})
	if err != nil || n != 9 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestInTx(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "PRAGMA foreign_keys = ON; CREATE TABLE p(a PRIMARY KEY); CREATE TABLE t(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
	broken := errors.New("broken")
	for name, c2 := range map[string]struct {
		fn   func() error
		want string
	}{
		"fails":     {func() error { _ = c.Exec("INSERT INTO p VALUES (1)"); return broken }, "broken"},
		"commit":    {func() error { return c.Exec("INSERT INTO t VALUES (1)") }, "FOREIGN KEY constraint failed"},
		"rollbacks": {func() error { _ = c.Exec("INSERT INTO p VALUES (1)"); _ = c.Exec("ROLLBACK"); return broken }, "broken"},
	} {
		if err := c.InTx("BEGIN", c2.fn); err == nil || !strings.Contains(err.Error(), c2.want) || c.InTransaction() {
			t.Errorf("%s: %v, still in a transaction: %t", name, err, c.InTransaction())
		}
	}
	if got := values(t, c, "SELECT (SELECT count(*) FROM p) + (SELECT count(*) FROM t)"); got[0] != int64(0) {
		t.Errorf("%v rows stayed", got)
	}
	if err := c.InTx("BEGIN", func() error { return c.Exec("INSERT INTO p VALUES (1)") }); err != nil || c.Changes() != 1 {
		t.Errorf("%v, %d changes", err, c.Changes())
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	c := open(t)
	const forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	stop := c.Until(ctx)
	err := c.InTx("BEGIN", func() error { return c.Exec(forever) })
	stop()
	var e *raw.Error
	if !errors.As(err, &e) || e.Code != raw.Interrupt || c.InTransaction() {
		t.Errorf("got %v", err)
	}
	if err := c.Exec("SELECT 1"); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestSteps: rows_read is computed from the engine's counts of moves, which a new
// version of the engine must keep.
func TestSteps(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t(a);"+
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 100) INSERT INTO t(a, b) SELECT x%10, x FROM c")
	for text, want := range map[string]int64{
		"SELECT * FROM t": 99, "SELECT * FROM t WHERE id = 5": 0, "SELECT * FROM t WHERE a = 3": 10,
		"SELECT 1": 0, "SELECT * FROM t WHERE b = 5": 99, "SELECT * FROM t LIMIT 4": 3,
	} {
		s, _, err := c.Prepare(text)
		for more := true; more && err == nil; {
			more, err = s.Step()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Steps(); got != want {
			t.Errorf("%s: %d steps, want %d", text, got, want)
		}
		s.Finalize()
	}
}

// TestRowWrites: the number of records for a row is read from the statement's program,
// which a new version of the engine must keep.
func TestRowWrites(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b); CREATE INDEX i ON t(b); CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID; CREATE VIRTUAL TABLE f USING fts5(x)")
	for text, want := range map[string]int64{
		"SELECT * FROM t ORDER BY b": 0, "INSERT INTO t(a, b) VALUES (1, 2)": 3, "UPDATE t SET b = b + 1": 2, "UPDATE t SET a = 1, b = 2": 3,
		"DELETE FROM t WHERE b = 1": 0, "INSERT INTO t(a, b) SELECT b, a FROM t ORDER BY random()": 3, "INSERT INTO w VALUES (1, 2)": 1,
		"INSERT INTO t(id, a) VALUES (1, 2) ON CONFLICT(id) DO UPDATE SET a = 3": 3, "REPLACE INTO t VALUES (1, 2, 3)": 3, "INSERT INTO f VALUES ('x')": 0,
	} {
		s, _, err := c.Prepare(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.RowWrites(); got != want {
			t.Errorf("%s: %d records for a row, want %d", text, got, want)
		}
		s.Finalize()
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	c := open(t)
	c.Limit(raw.LimitVariables, 2)
	if err := c.Exec("SELECT ?, ?, ?"); err == nil || !strings.Contains(err.Error(), "too many SQL variables") {
		t.Errorf("got %v", err)
	}
}
