package database_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
)

func testdata(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// asker gives the first column of the rows of a query.
type asker func(text string) []string

// worker asks as a worker does.
func worker(t *testing.T, in binding.Instance) asker {
	return func(text string) (out []string) {
		t.Helper()
		r := ask(t, in, text)
		if !r.Success {
			t.Fatalf("%s: %s", text, r.Error)
		}
		for _, row := range r.Results.Rows {
			out = append(out, fmt.Sprint(row[0]))
		}
		return out
	}
}

// contents is all that a database holds, in words: what it declares, and its
// rows, those inside virtual tables too, value by value in their stored form.
func contents(ask asker) []string {
	const apart = ` WHERE name NOT LIKE '\_cf\_%' ESCAPE '\'`
	out := ask("SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_master" + apart + " ORDER BY type, name")
	tables := ask("SELECT name FROM pragma_table_list" + apart + " AND schema = 'main' AND type IN ('table', 'shadow') AND name NOT IN ('sqlite_schema') ORDER BY name")
	for _, table := range tables {
		quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
		columns := ask("SELECT name FROM pragma_table_xinfo('" + strings.ReplaceAll(table, "'", "''") + "')")
		if len(ask("SELECT 1 FROM pragma_table_list WHERE name = '"+table+"' AND wr = 0")) > 0 && table != "full" {
			columns = append(columns, "oid")
		}
		for i, c := range columns {
			c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
			columns[i] = "typeof(" + c + ") || ' ' || CASE typeof(" + c + ") WHEN 'blob' THEN quote(" + c + ") ELSE coalesce(" + c + ", 'NULL') END"
		}
		out = append(out, ask("SELECT '"+strings.ReplaceAll(table, "'", "''")+": ' || concat_ws(', ', "+strings.Join(columns, ", ")+") r FROM "+quoted+" ORDER BY r")...)
	}
	return out
}

// A SQLite file comes over whole.
func TestImportFile(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"utf-8": "", "utf-16": "PRAGMA encoding = 'UTF-16le';", "wal": "PRAGMA journal_mode = WAL;", "page size": "PRAGMA page_size = 1024; PRAGMA auto_vacuum = FULL;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := databaseFile(t, before+testdata(t, "everything.sql"))
			db, err := seeded(t, "DB.sqlite", text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(contents(fileAsker(t, text)), contents(worker(t, db))); diff != "" {
				t.Errorf("(-file +imported):\n%s", diff)
			}
			afterImport(t, db)
			wantRows(t, db, "[[10 1] [77 3]]", `select rowid, "c d" from plain where rowid in (10, 77)`)
		})
	}
}

// fileAsker asks a SQLite file.
func fileAsker(t *testing.T, content string) asker {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.sqlite")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := raw.Open(path, raw.Options{Immutable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return func(text string) (out []string) {
		t.Helper()
		err := c.Query(text, nil, func(s *raw.Stmt) error {
			out = append(out, s.Text(0))
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return out
	}
}

// afterImport checks what holds of everything.sql however it was imported: it is
// alive, and nothing fired while it came.
func afterImport(t *testing.T, db binding.Instance) {
	t.Helper()
	wantRows(t, db, "[]", "select * from log")
	wantRows(t, db, "[[900] [4 here]]", "select seq from sqlite_sequence where name = 'counted' union all select id || ' ' || v from counted")
	wantRows(t, db, "[[20 40 x 21] [21 42 y 22]]", "select * from generated")
	wantRows(t, db, "[[7]]", "select rowid from docs where docs match 'runner'")
	wantRows(t, db, "[[2]]", "select rowid from posts_fts where posts_fts match 'another'")
	wantRows(t, db, "[[1]]", "select rowid from nothing_kept where nothing_kept match 'index'")
	wantRows(t, db, "[[2]]", "select id from places where x0 > 4")
	wantRows(t, db, "[[run 1 2]]", "select term, doc, cnt from docs_words where term = 'run'")
	for _, table := range []string{"docs", "posts_fts", "nothing_kept"} {
		rows(t, db, "insert into "+table+"("+table+") values ('integrity-check')")
	}
	rows(t, db, "insert into docs(rowid, title, body) values (8, 'new', 'they ran and run')")
	wantRows(t, db, "[[7] [8]]", "select rowid from docs where docs match 'run' order by rowid")
	rows(t, db, "insert into counted(v) values ('next')")
	wantRows(t, db, "[[901]]", "select id from counted where v = 'next'")
	rows(t, db, "insert into names(name) values ('r')")
	rows(t, db, "insert into plain(a) values (1)")
	wantRows(t, db, "[[parent] [plain; a]]", "select what from log order by 1")
	wantRows(t, db, "[[p] [q] [r]]", "select * from names")
	wantRows(t, db, "[[ok]]", "pragma quick_check")
	if r := ask(t, db, "insert into child(parent) values ('absent')"); r.Success {
		t.Error("foreign keys are off")
	}
}

// So does a dump of the sqlite3 program, as far as it says: it tells no rowids,
// and ends a text at a zero byte.
func TestImportDump(t *testing.T) {
	t.Parallel()
	db, err := seeded(t, "DB.sql", testdata(t, "dump-3.40.sql"))
	if err != nil {
		t.Fatal(err)
	}
	text := databaseFile(t, testdata(t, "everything.sql"))
	var want []string
	for _, line := range contents(fileAsker(t, text)) {
		if !strings.HasPrefix(line, "plain: ") && !strings.HasPrefix(line, "sqlite_stat") && !strings.HasPrefix(line, "docs_data") {
			want = append(want, line)
		}
	}
	have := map[string]bool{}
	for _, line := range contents(worker(t, db)) {
		have[strings.Replace(line, "CREATE TABLE IF NOT EXISTS ", "CREATE TABLE ", 1)] = true
	}
	for _, line := range want {
		if !have[line] {
			t.Errorf("it lacks %s", line)
		}
	}
	wantRows(t, db, "[[2.5 <nil> -9.223372036854776e+18] [1 one 1] [[0 255] grüße\n'quoted' 3] [[]  9.223372036854776e+18] [<nil> a <nil>]]", "select * from plain")
	afterImport(t, db)
}
