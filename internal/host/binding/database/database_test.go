package database_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
)

func open(t *testing.T, dir string) binding.Instance {
	t.Helper()
	in, err := database.Kind{}.Open(t.Context(), bundle.Binding{Name: "DB", Kind: "database", Resource: "db"}, bindingtest.OpenVolumes(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// reply is one answer of the protocol.
type reply struct {
	Success  bool   `json:"success"`
	Error    string `json:"-"`
	Bookmark string `json:"-"`
	Results  struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
	} `json:"results"`
	Meta struct {
		Changes     int64 `json:"changes"`
		LastRowID   int64 `json:"last_row_id"`
		RowsRead    int64 `json:"rows_read"`
		RowsWritten int64 `json:"rows_written"`
		ChangedDB   bool  `json:"changed_db"`
		SizeAfter   int64 `json:"size_after"`
	} `json:"meta"`
}

// ask sends text with params as the binding does, without a worker.
func ask(t *testing.T, in binding.Instance, text string, params ...any) reply {
	t.Helper()
	return askWithin(t.Context(), t, in, text, params...)
}

func askWithin(ctx context.Context, t *testing.T, in binding.Instance, text string, params ...any) reply {
	t.Helper()
	body, err := json.Marshal(map[string]any{"sql": text, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	return post(ctx, t, in, `[{"statements":[`+string(body)+`]}]`)[0]
}

// post sends calls and gives the last result of each, or its error.
func post(ctx context.Context, t *testing.T, in binding.Instance, body string) (replies []reply) {
	t.Helper()
	w := httptest.NewRecorder()
	in.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/calls", strings.NewReader(body)))
	var answers []struct {
		Results  []reply `json:"results"`
		Error    string  `json:"error"`
		Bookmark string  `json:"bookmark"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answers); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for _, a := range answers {
		r := reply{Error: a.Error, Bookmark: a.Bookmark}
		if len(a.Results) > 0 {
			r = a.Results[len(a.Results)-1]
			r.Bookmark = a.Bookmark
		}
		replies = append(replies, r)
	}
	return replies
}

func rows(t *testing.T, in binding.Instance, text string, params ...any) string {
	t.Helper()
	r := ask(t, in, text, params...)
	if !r.Success {
		t.Fatalf("%s: %s", text, r.Error)
	}
	return fmt.Sprint(r.Results.Rows)
}

func wantRows(t *testing.T, in binding.Instance, want, text string, params ...any) {
	t.Helper()
	if diff := cmp.Diff(want, rows(t, in, text, params...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", text, diff)
	}
}

func TestMeta(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(id integer primary key, a)")
	rows(t, db, "create index i on t(a)")
	got := ask(t, db, "insert into t(a) values (1),(2),(3)").Meta
	if got.Changes != 3 || got.LastRowID != 3 || !got.ChangedDB || got.RowsWritten != 6 || got.SizeAfter != 12288 {
		t.Errorf("after three inserts: %+v", got)
	}
	for text, want := range map[string]int64{"select 1": 0, "select * from t": 3, "select * from t where id = 2": 1, "select * from t where id = 9": 1, "select * from t where a > 1": 2} {
		if got := ask(t, db, text).Meta; got.RowsRead != want || got.ChangedDB || got.LastRowID != 3 {
			t.Errorf("%s: %+v, want %d rows read", text, got, want)
		}
	}
}

// A query that runs too long is stopped, and nothing of its request stays.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a)")
	const forever = "with recursive c(x) as (select 1 union all select x+1 from c) "
	for _, text := range []string{forever + "select count(*) from c", "insert into t values(1); " + forever + "insert into t select x from c"} {
		got := stopped(t, db, text)
		if !strings.Contains(got.Error, "time limit") || !strings.HasSuffix(got.Error, ": SQLITE_INTERRUPT") {
			t.Errorf("%s: %+v", text, got)
		}
	}
	wantRows(t, db, "[[0]]", "select count(*) from t")
}

// stopped runs a query without an end, with longer and longer time limits until it has begun:
// a busy machine takes its time to begin.
func stopped(t *testing.T, db binding.Instance, text string) (got reply) {
	t.Helper()
	body, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	for limit := 50 * time.Millisecond; limit < time.Minute; limit *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		replies := post(ctx, t, db, `[{"statements":[{"sql":`+string(body)+`}]}]`)
		cancel()
		if len(replies) > 0 {
			got = replies[0]
		}
		if strings.Contains(got.Error, "SQLITE_INTERRUPT") {
			break
		}
	}
	return got
}

// What a PRAGMA sets ends with its request, on whichever connection it ran.
func TestSettingsEnd(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a check (a > 0))")
	rows(t, db, "pragma ignore_check_constraints = on; insert into t values(-1)")
	if got := ask(t, db, "insert into t values(-2)"); !strings.Contains(got.Error, "CHECK constraint failed") {
		t.Errorf("the setting has lasted: %+v", got)
	}
	rows(t, db, "pragma case_sensitive_like = on; insert into t select 5 where 'A' not like 'a'")
	wantRows(t, db, "[[1]]", "select 'A' like 'a'")
	wantRows(t, db, "[[2]]", "select count(*) from t")
}

// The program's own statements are no way around the policy.
func TestPolicyHoldsForKeptStatements(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a)")
	for _, text := range []string{"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "PRAGMA page_count", "PRAGMA freelist_count"} {
		if got := ask(t, db, text); got.Success {
			t.Errorf("%s is allowed", text)
		}
	}
	wantRows(t, db, "[]", "select * from t")
}

func TestBodies(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	for body, want := range map[string]string{
		``:       "the request cannot be read",
		`{`:      "the request cannot be read",
		`[1]`:    "the request cannot be read",
		`[null]`: "No SQL statements detected.",
		`[{}]`:   "No SQL statements detected.",
		`[{"statements":[{"sql":"select ?","params":[{}]}]}]`:      "a parameter is null, a number, a string or an array of bytes",
		`[{"statements":[{"sql":"select ?","params":[["a"]]}]}]`:   "an array parameter is one of bytes",
		`[{"statements":[{"sql":"select ?1, ?2","params":[1]}]}]`:  "Wrong number of parameter bindings for SQL query.",
		`[{"statements":[{"sql":"select ?","params":[ [ 1 ] ]}]}]`: "",
	} {
		if got := post(t.Context(), t, db, body)[0]; !strings.Contains(got.Error, want) || got.Success != (want == "") {
			t.Errorf("%s: %+v, want %q", body, got, want)
		}
	}
	w := httptest.NewRecorder()
	db.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/dump", strings.NewReader("x")))
	if w.Code != http.StatusNotFound {
		t.Errorf("/dump: %d", w.Code)
	}
}

// Tokens sort after all earlier ones, also those of an earlier opening.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var tokens []string
		for range 2 {
			db := open(t, dir)
			for range 20 {
				tokens = append(tokens, bookmark(t, db))
			}
			time.Sleep(time.Millisecond)
		}
		if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != len(tokens) || len(tokens[0]) != 21 {
			t.Errorf("not growing: %v", tokens)
		}
	})
}

func bookmark(t *testing.T, in binding.Instance) string {
	t.Helper()
	return post(t.Context(), t, in, `[{"at":"first-primary","statements":[{"sql":"select 1"}]}]`)[0].Bookmark
}

// Transactions of concurrent requests do not mix.
func TestConcurrentTransactions(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table account(id integer primary key, n)")
	rows(t, db, "insert into account values(1,100),(2,0)")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				ask(t, db, "update account set n = n - 1 where id = 1; update account set n = n + 1 where id = 2")
				ask(t, db, "update account set n = n - 1 where id = 1; select nope")
				if got := rows(t, db, "select sum(n) from account"); got != "[[100]]" {
					t.Errorf("a half transaction is seen: %s", got)
				}
			}
		})
	}
	all.Wait()
	wantRows(t, db, "[[-60] [160]]", "select n from account order by id")
}

// Names of columns have the comments that the engine leaves in them, as on D1. workerd's own
// database removes them.
func TestCommentsInNames(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	for text, want := range map[string]string{
		"SELECT 1 -- x": "1 -- x", "SELECT 1 /* x */": "1 /* x */", "SELECT 1 -- x\n;": "1 -- x", "SELECT 1 /* x */ ; -- y": "1 /* x */",
		"SELECT 1; -- x": "1", "SELECT 1 ; ;": "1", "/* w */ SELECT 1 a -- x": "a", "SELECT 2; SELECT 1 -- x": "1 -- x",
	} {
		if got := ask(t, db, text).Results.Columns; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: the columns are %q, want %q", text, got, want)
		}
	}
}

// Two statements in one text answer as on D1: both run, in one transaction, rows and counts
// are those of the last one, and changes those of both.
func TestTwoStatements(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a)")
	if got := ask(t, db, "insert into t values(1),(2); insert into t values(3)").Meta; got.Changes != 3 || got.RowsWritten != 1 {
		t.Errorf("two inserts: %+v", got)
	}
	if got := ask(t, db, "insert into t values(4); select a from t"); got.Meta.Changes != 1 || got.Meta.RowsWritten != 0 || got.Meta.RowsRead != 4 || len(got.Results.Rows) != 4 {
		t.Errorf("an insert and a select: %+v", got)
	}
	if got := ask(t, db, "insert into t values(5); insert into nowhere values(1)"); !strings.HasPrefix(got.Error, "no such table: nowhere") {
		t.Errorf("a failure: %+v", got)
	}
	wantRows(t, db, "[[4]]", "select count(*) from t")
}
