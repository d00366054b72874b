package raw_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// TestBindColumn copies stored values from one connection to another.
func TestBindColumn(t *testing.T) {
	t.Parallel()
	const list = `VALUES (1, -9223372036854775808, 1.5, 9e999, 'a' || char(0) || 'b', CAST(X'ff41' AS TEXT), X'', X'00ff', NULL, '', zeroblob(3))`
	from, to := open(t), open(t)
	script(t, from, "PRAGMA encoding = 'UTF-16'; CREATE TABLE u(a); INSERT INTO u VALUES ('grüße')")
	script(t, to, "CREATE TABLE t(a,b,c,d,e,f,g,h,i,j,k)")
	move := func(read, write string) {
		t.Helper()
		in, _, err := to.Prepare(write)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Finalize()
		err = from.Query(read, nil, func(out *raw.Stmt) error {
			for i := range out.Columns() {
				if err := in.BindColumn(i+1, out, i); err != nil {
					return err
				}
			}
			_, err := in.Step()
			in.Reset()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	plain := open(t)
	move(list, "INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?,?,?)")
	if diff := cmp.Diff(values(t, plain, list)[:4], values(t, to, "SELECT * FROM t")[:4]); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	move("SELECT a FROM u", "INSERT INTO t(a) VALUES (?)")
	want := []any{"text", "grüße"}
	if diff := cmp.Diff(want, values(t, to, "SELECT typeof(a), a FROM t WHERE b IS NULL")); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	types := "SELECT typeof(e), length(CAST(e AS BLOB)), typeof(g), length(g), hex(h), typeof(i), typeof(j), hex(k) FROM t WHERE b IS NOT NULL"
	want = []any{"text", int64(3), "blob", int64(0), "00FF", "null", "text", "000000"}
	if diff := cmp.Diff(want, values(t, to, types)); diff != "" {
		t.Errorf("bytes (-want +got):\n%s", diff)
	}
	to.Limit(raw.LimitLength, 50)
	in, _, err := to.Prepare("INSERT INTO t(a) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Finalize()
	err = from.Query("SELECT hex(zeroblob(26))", nil, func(out *raw.Stmt) error { return in.BindColumn(1, out, 0) })
	var e *raw.Error
	if !errors.As(err, &e) || e.Code != raw.TooBig {
		t.Errorf("over the limit: %v", err)
	}
}

// TestImmutable: a file that no process changes can be read in a directory without
// write permission, also in WAL mode, and with any name.
func TestImmutable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "odd ?%20#name.sqlite")
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	script(t, c, "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (7)")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = raw.Open(path, raw.Options{Immutable: true}); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := values(t, c, "SELECT a FROM t"); got[0] != int64(7) {
		t.Errorf("got %v", got)
	}
	if err := c.Exec("INSERT INTO t VALUES (1)"); err == nil {
		t.Error("an immutable file was written")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("beside it: %v, %v", files, err)
	}
	if _, err := raw.Open(filepath.Join(dir, "none"), raw.Options{Immutable: true}); err == nil {
		t.Error("a missing file was opened")
	}
}

func TestOwesForeignKeys(t *testing.T) {
	t.Parallel()
	c := open(t)
	script(t, c, "PRAGMA foreign_keys = ON; CREATE TABLE p(a PRIMARY KEY); CREATE TABLE t(a REFERENCES p); BEGIN; PRAGMA defer_foreign_keys = ON")
	for _, step := range []struct {
		text string
		owes bool
	}{{"INSERT INTO t VALUES (1)", true}, {"INSERT INTO p VALUES (1)", false}, {"DELETE FROM p", true}, {"ROLLBACK", false}} {
		script(t, c, step.text)
		if c.OwesForeignKeys() != step.owes {
			t.Errorf("after %s: %t", step.text, !step.owes)
		}
	}
}
