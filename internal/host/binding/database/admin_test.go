package database_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestQueryAnswersAreInTheContract: the document of the API has each field of an answer.
func TestQueryAnswersAreInTheContract(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "", "DB")
	for _, sql := range []string{"CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", "SELECT * FROM t"} {
		var got api.QueryResults
		text := c.query(map[string]any{"sql": sql, "read_only": false})
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil || len(got.Results) != 1 || got.Results[0].Meta.ServedBy != "svcctl" {
			t.Errorf("%s: %v: %s", sql, err, text)
		}
	}
}

// console is the API's way to the databases of a set.
type console struct {
	t *testing.T
	h http.Handler
}

// newConsole opens databases by the names of their bindings, and runs text on
// the first.
func newConsole(t *testing.T, text string, names ...string) console {
	t.Helper()
	var list []bundle.Binding
	for _, name := range names {
		list = append(list, bundle.Binding{Name: name, Kind: "database", Resource: "db-" + name})
	}
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{database.Kind{}}, list...)
	c := console{t, set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		e := svc.AsError(err)
		http.Error(w, fmt.Sprintf("%s: %s: %s: %s", e.Kind, e.Code, e.Detail, e.Hint), http.StatusTeapot)
	})}
	if text != "" {
		c.query(map[string]any{"sql": text, "read_only": false, "binding": names[0]})
	}
	return c
}

func (c console) do(method, path, body string) string {
	c.t.Helper()
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, httptest.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(body)))
	return strings.TrimSpace(w.Body.String())
}

func (c console) get(path string) string { return c.do(http.MethodGet, path, "") }

func (c console) query(q map[string]any) string {
	c.t.Helper()
	body, err := json.Marshal(q)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.do(http.MethodPost, "/database/query", string(body))
}

// results are the rows of each statement, as text.
func (c console) results(q map[string]any) (out []string) {
	c.t.Helper()
	var answer struct {
		Results []struct {
			Success bool            `json:"success"`
			Columns []string        `json:"columns"`
			Results json.RawMessage `json:"results"`
			Meta    map[string]any  `json:"meta"`
		} `json:"results"`
	}
	text := c.query(q)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		c.t.Fatalf("%v: %v: %s", q, err, text)
	}
	for _, r := range answer.Results {
		if !r.Success || r.Meta["duration"] == nil || r.Columns == nil {
			c.t.Errorf("%v: %s", q, text)
		}
		out = append(out, string(r.Results))
	}
	return out
}

func TestAdminDatabases(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table t(a integer primary key, b text not null default 'x', c as (a+1)); insert into t(b) values('1'),('2'); "+
		"create view v as select a from t; create virtual table f using fts5(x); create view broken as select * from t", "DB", "LOG")
	c.query(map[string]any{"sql": "drop view broken; create view broken as select nope from t", "read_only": false, "binding": "DB"})
	want := `{"items":[{"binding":"DB","name":"db-DB","size_bytes":SIZE,"tables":2,"fork_txid":"","head_txid":"N"},` +
		`{"binding":"LOG","name":"db-LOG","size_bytes":4096,"tables":0,"fork_txid":"","head_txid":"N"}]}`
	var sizes struct {
		Items []struct {
			Size int64 `json:"size_bytes"`
		} `json:"items"`
	}
	got := c.get("/database")
	if err := json.Unmarshal([]byte(got), &sizes); err != nil || sizes.Items[0].Size < 8192 {
		t.Fatalf("%v: %s", err, got)
	}
	got = regexp.MustCompile(`"head_txid":"\d+"`).ReplaceAllString(got, `"head_txid":"N"`)
	if diff := cmp.Diff(strings.Replace(want, "SIZE", fmt.Sprint(sizes.Items[0].Size), 1), got); diff != "" {
		t.Error(diff)
	}
	var tables struct {
		Items []struct {
			Name     string            `json:"name"`
			Type     string            `json:"type"`
			RowCount *int64            `json:"row_count"`
			SQL      string            `json:"sql"`
			Columns  []json.RawMessage `json:"columns"`
		} `json:"items"`
	}
	text := c.get("/database/tables?binding=DB")
	if err := json.Unmarshal([]byte(text), &tables); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	kinds := map[string]string{}
	for _, table := range tables.Items {
		kinds[table.Name] = table.Type
		if table.Name != "t" {
			continue
		}
		want := `[{"name":"a","type":"INTEGER","not_null":false,"default":null,"primary_key":1,"generated":false} ` +
			`{"name":"b","type":"TEXT","not_null":true,"default":"'x'","primary_key":0,"generated":false} ` +
			`{"name":"c","type":"","not_null":false,"default":null,"primary_key":0,"generated":true}]`
		if fmt.Sprintf("%s", table.Columns) != want || *table.RowCount != 2 || !strings.HasPrefix(table.SQL, "CREATE TABLE t(") {
			t.Errorf("t is %+v %s", table, table.Columns)
		}
	}
	if kinds["t"] != "table" || kinds["v"] != "view" || kinds["f"] != "virtual" || kinds["f_data"] != "shadow" || kinds["broken"] != "view" {
		t.Errorf("tables: %v", kinds)
	}
	for path, want := range map[string]string{
		"/database/tables":                               "bad request: binding_required: this version has several bindings of this kind: name one: DB, LOG",
		"/database/tables?binding=NO":                    "not found: binding_not_found: NO is no database of this version: it has DB, LOG",
		"/database/tables/no/rows?binding=DB":            "not found: table_not_found",
		"/database/tables/_cf_x/rows?binding=DB":         "not found: table_not_found",
		"/database/tables/broken/rows?binding=DB":        "unprocessable: sql_error: no such column: nope",
		"/database/tables/t/rows?binding=DB&dir=x":       "bad request: invalid_dir",
		"/database/tables/t/rows?binding=DB&limit=0":     "bad request: invalid_limit",
		"/database/tables/t/rows?binding=DB&order_by=no": "bad request: invalid_order_by: the table has no such column to order by: it has a, b, c",
		"/database/tables/t/rows?binding=DB&cursor=x":    "bad request: invalid_cursor",
		"/database/nothing":                              "not found: path_not_found",
	} {
		if got := c.get(path); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := newConsole(t, "").get("/database/tables"); !strings.HasPrefix(got, "not found: binding_not_found: this version has no database") {
		t.Error(got)
	}
}

// page asks for the rows of table, page by page, and gives them joined.
func (c console) pages(table string, query url.Values) (rows []string, pages int) {
	c.t.Helper()
	for {
		var page struct {
			Rows []json.RawMessage `json:"rows"`
			Next *string           `json:"next_cursor"`
		}
		text := c.get("/database/tables/" + table + "/rows?" + query.Encode())
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			c.t.Fatalf("%s %v: %v: %s", table, query, err, text)
		}
		for _, r := range page.Rows {
			rows = append(rows, string(r))
		}
		pages++
		if page.Next == nil {
			return rows, pages
		}
		query.Set("cursor", *page.Next)
	}
}

// Paging through any order gives every row once, in the order of SQL.
func TestAdminRows(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table t(id integer primary key, v); "+
		"insert into t(v) values (null),('b'),(2),(null),('a'),(x'00ff'),(2),(1.5),('B'),(9007199254740993),(9e999),('a'); "+
		"create table w(a text collate nocase, b integer, v, primary key(a, b)) without rowid; "+
		"insert into w select v, id, v from t where typeof(v) = 'text'; "+
		"create table r(rowid, oid, _rowid_); insert into r select id, v, id from t; create view view1 as select * from t", "DB")
	for _, table := range []string{"t", "w", "r", "view1", "T"} {
		for _, order := range []string{"", "v", "V", "rowid"} {
			if hasV := table != "r"; order != "" && hasV == (order == "rowid") {
				continue
			}
			for _, dir := range []string{"asc", "desc"} {
				query := url.Values{"dir": {dir}, "limit": {"1000"}}
				if order != "" {
					query.Set("order_by", order)
				}
				whole, _ := c.pages(table, query)
				query.Del("cursor")
				query.Set("limit", "2")
				got, pages := c.pages(table, query)
				if diff := cmp.Diff(whole, got); diff != "" || pages != (len(whole)+1)/2 {
					t.Errorf("%s by %q %s in %d pages:\n%s", table, order, dir, pages, diff)
				}
			}
		}
	}
	got, _ := c.pages("t", url.Values{"order_by": {"v"}})
	want := []string{`[1,null]`, `[4,null]`, `[8,1.5]`, `[3,2]`, `[7,2]`, `[10,"9007199254740993"]`, `[11,"+Inf"]`, `[9,"B"]`, `[5,"a"]`, `[12,"a"]`, `[2,"b"]`, `[6,{"$base64":"AP8="}]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A cursor is good for its own table and order only, and stays right when rows
// come and go.
func TestAdminCursor(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table t(id integer primary key, v); insert into t(v) values (1),(2),(3),(4); create table u as select * from t", "DB")
	var page struct {
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(c.get("/database/tables/t/rows?limit=2")), &page); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/database/tables/u/rows?", "/database/tables/t/rows?order_by=v&", "/database/tables/t/rows?dir=desc&", "/database/tables/t/rows?binding=DB&"} {
		if got := c.get(path + "cursor=" + page.Next); !strings.Contains(got, "invalid_cursor") {
			t.Errorf("%s: %s", path, got)
		}
	}
	c.query(map[string]any{"sql": "delete from t where id in (1, 3); insert into t values(0, 0)", "read_only": false})
	if got := c.get("/database/tables/t/rows?limit=2&cursor=" + page.Next); !strings.Contains(got, `"rows":[[4,4]],"next_cursor":null`) {
		t.Error(got)
	}
}

func TestAdminQuery(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table t(a, b); insert into t values(1, 'x'), (2, 'y')", "DB")
	for _, tc := range []struct {
		q    map[string]any
		want []string
	}{
		{map[string]any{"sql": "select * from t"}, []string{`[{"a":1,"b":"x"},{"a":2,"b":"y"}]`}},
		{map[string]any{"sql": "select 1 a; -- x\n select 2 b;"}, []string{`[{"a":1}]`, `[{"b":2}]`}},
		{map[string]any{"sql": "select ? a, typeof(?2) b, hex(?3) c, ?4 d", "params": []any{9007199254740993, 1.5, map[string]string{"$base64": "AP8="}, true}}, []string{`[{"a":"9007199254740993","b":"real","c":"00FF","d":1}]`}},
		{map[string]any{"sql": "select x'61' a, 9007199254740992 b, -9007199254740993 c"}, []string{`[{"a":{"$base64":"YQ=="},"b":9007199254740992,"c":"-9007199254740993"}]`}},
		{map[string]any{"sql": "pragma table_info(t)"}, []string{`[{"cid":0,"name":"a","type":"","notnull":0,"dflt_value":null,"pk":0},{"cid":1,"name":"b","type":"","notnull":0,"dflt_value":null,"pk":0}]`}},
		{map[string]any{"sql": "delete from t order by a limit 1; select a from t", "read_only": false}, []string{`[]`, `[{"a":2}]`}},
		{map[string]any{"sql": "update t set a = a + 1 where b = ? returning a", "params": []any{"y"}, "read_only": false, "binding": "DB"}, []string{`[{"a":3}]`}},
	} {
		if got := c.results(tc.q); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.q, got, tc.want)
		}
	}
	for _, tc := range []struct {
		q    map[string]any
		want string
	}{
		{map[string]any{"sql": ""}, "unprocessable: sql_error: No SQL statements detected.:"},
		{map[string]any{"sql": "select nope"}, "unprocessable: sql_error: no such column: nope at offset 7: SQLITE_ERROR:"},
		{map[string]any{"sql": "select ?"}, "unprocessable: sql_error: Wrong number of parameter bindings"},
		{map[string]any{"sql": "select ?; select 1"}, "unprocessable: sql_error: When executing multiple"},
		{map[string]any{"sql": "select 1; attach 'x' as y"}, "unprocessable: sql_error: not authorized"},
		{map[string]any{"sql": "select 1", "params": []any{[]int{1}}}, "bad request: invalid_type"},
		{map[string]any{"sql": "select ?", "params": []any{map[string]string{"$base64": "!"}}}, "bad request: invalid_type"},
		{map[string]any{"sql": "select 1", "binding": "NO"}, "not found: binding_not_found"},
	} {
		if got := c.query(tc.q); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%v: %s, want %s", tc.q, got, tc.want)
		}
	}
}

// A query that only reads cannot write, whatever its words.
func TestAdminReadOnly(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table t(a); insert into t values(1)", "DB")
	for _, text := range []string{
		"delete from t", "select 1; delete from t", "with x as (select 1) insert into t select * from x", "drop table t", "create table u(a)",
		"delete from t limit 1", "insert into t values(2) returning a", "replace into t values(1)", "alter table t rename to u", "analyze",
		"select changes()", "vacuum", "pragma optimize; update t set a = 2", "pragma query_only = off", "commit; delete from t", "begin", "explain delete from t; delete from t",
		"pragma user_version = 5", "pragma writable_schema = on",
	} {
		if got := c.query(map[string]any{"sql": text}); !strings.HasPrefix(got, "unprocessable: sql_error: ") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := c.query(map[string]any{"sql": "delete from t"}); !strings.HasSuffix(got, "this statement writes, and the query is read-only: set read_only to false to let it write") {
		t.Error(got)
	}
	c.results(map[string]any{"sql": "pragma case_sensitive_like = on; select 1"})
	if got := c.results(map[string]any{"sql": "select 'A' like 'a' x, count(*) n, max(a) m from t"}); got[0] != `[{"x":1,"n":1,"m":1}]` {
		t.Error(got)
	}
	// a failing statement takes those before it back
	c.query(map[string]any{"sql": "insert into t values(7); select nope", "read_only": false})
	if got := c.results(map[string]any{"sql": "select count(*) n from t"}); got[0] != `[{"n":1}]` {
		t.Error(got)
	}
}

// Large answers end early and say so; what a statement writes is written.
func TestAdminTruncates(t *testing.T) {
	t.Parallel()
	c := newConsole(t, "create table t(a)", "DB")
	const many = "with recursive c(x) as (select 1 union all select x+1 from c"
	for _, tc := range []struct {
		q         map[string]any
		rows      int
		truncated bool
	}{
		{map[string]any{"sql": many + ") select x from c"}, 10000, true},
		{map[string]any{"sql": many + " limit 10000) select x from c"}, 10000, false},
		{map[string]any{"sql": many + ") select zeroblob(1000000) from c"}, 13, true},
		{map[string]any{"sql": many + " limit 12000) insert into t select x from c returning a", "read_only": false}, 10000, true},
	} {
		var answer struct {
			Results []struct {
				Results   []json.RawMessage `json:"results"`
				Truncated bool              `json:"truncated"`
			} `json:"results"`
		}
		text := c.query(tc.q)
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%v: %.200s", err, text)
		}
		if got := answer.Results[0]; len(got.Results) != tc.rows || got.Truncated != tc.truncated {
			t.Errorf("%v: %d rows, truncated %t", tc.q, len(got.Results), got.Truncated)
		}
	}
	if got := c.results(map[string]any{"sql": "select count(*) n from t"}); got[0] != `[{"n":12000}]` {
		t.Error(got)
	}
}

// A table as wide as can be is shown too.
func TestAdminWideTable(t *testing.T) {
	t.Parallel()
	var columns []string
	for i := range 100 {
		columns = append(columns, fmt.Sprint("c", i))
	}
	c := newConsole(t, "create table t("+strings.Join(columns, ",")+"); insert into t(c0) values(1)", "DB")
	if got := c.get("/database/tables/t/rows?order_by=c1"); !strings.Contains(got, `"rows":[[1,null,`) {
		t.Error(got)
	}
	if got := c.query(map[string]any{"sql": "select c0, * from t"}); !strings.Contains(got, "too many columns") {
		t.Error(got)
	}
}
