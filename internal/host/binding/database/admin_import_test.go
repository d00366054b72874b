package database_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
)

// imports sends text to the database behind a binding and gives the answer,
// without the time it took.
func (c console) imports(query, text string) string {
	c.t.Helper()
	answer := c.do(http.MethodPost, "/database/import"+query, text)
	var done map[string]float64
	if json.Unmarshal([]byte(answer), &done) != nil {
		return answer
	}
	if seconds, ok := done["seconds"]; !ok || seconds <= 0 || seconds > 60 {
		c.t.Errorf("it took %v: %s", seconds, answer)
	}
	delete(done, "seconds")
	b, _ := json.Marshal(done)
	return string(b)
}

func TestAdminImport(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table was_here(a); insert into was_here values (1)", "A", "B")
	file := databaseFile(t, "create table f(a integer primary key autoincrement, b); insert into f(b) values ('x'), ('y'); create table g(a); create view v as select 1; create virtual table s using fts5(x); insert into s values ('z')")
	for _, step := range []struct{ query, text, want string }{
		{"", "create table t(a);", "binding_required"},
		{"?binding=C", "create table t(a);", "binding_not_found"},
		{"?binding=A", "", "body_required"},
		{"?binding=A", "create table t(a);\ninsert into t values (1),(2);\ninsert into t select a+2 from t;", `{"rows":4,"tables":1}`},
		{"?binding=A", "insert into t values (5);", `{"rows":1,"tables":0}`},
		{"?binding=A", file, `{"rows":2,"tables":3}`},
		{"?binding=A", file, "sql_error: table f: table f already exists"},
		{"?binding=A", "insert into t values (6);\ninsert into nope values (7);", "unprocessable: sql_error: line 2: no such table: nope: SQLITE_ERROR: insert into nope values (7): nothing of it was imported"},
		{"?binding=A", file[:3000], "sql_error: the file cannot be read: "},
		{"?binding=B", "create table t(a);", `{"rows":0,"tables":1}`},
		{"?binding=B", "-- nothing", `{"rows":0,"tables":0}`},
	} {
		if got := c.imports(step.query, step.text); !strings.Contains(got, step.want) {
			t.Errorf("%s %.60q: got %s, want %s", step.query, step.text, got, step.want)
		}
	}
	counted := c.results(map[string]any{"binding": "A", "sql": "select (select count(*) from t) t, (select count(*) from f) f, (select count(*) from was_here) w"})
	if len(counted) != 1 || !strings.Contains(counted[0], `{"t":5,"f":2,"w":1}`) {
		t.Errorf("there are %v", counted)
	}
}

// failingImport sends a body that does not come whole, and one whose sender
// gives up while it is imported.
func TestAdminImportInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, dir), []binding.Kind{database.Kind{}}, bundle.Binding{Name: "A", Kind: "database", Resource: "a"})
	var failed error
	h := set.Data(func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err })
	post := func(ctx context.Context, body io.Reader) string {
		failed = nil
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/database/import", body))
		if failed == nil {
			return ""
		}
		return failed.Error()
	}
	broken := io.MultiReader(strings.NewReader("create table t(a);"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got := post(t.Context(), broken); !strings.Contains(got, "the body ended early") || !errors.Is(failed, io.ErrUnexpectedEOF) {
		t.Errorf("a broken body: %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	endless := "create table t(a); with recursive c(x) as (select 1 union all select x+1 from c) insert into t select x from c;"
	body := io.MultiReader(strings.NewReader(endless), leaving{cancel})
	if got := post(ctx, body); !strings.Contains(got, "the request was interrupted") {
		t.Errorf("canceled: %s", got)
	}
	if got := post(t.Context(), strings.NewReader("create table t(a);")); got != "" {
		t.Errorf("afterwards: %s", got)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// leaving is the end of a body whose sender then gives up.
type leaving struct{ cancel func() }

func (l leaving) Read([]byte) (int, error) {
	l.cancel()
	return 0, io.EOF
}
