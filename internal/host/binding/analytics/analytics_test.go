package analytics_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/analytics"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

var good = bundle.Binding{Name: "B", Kind: "analytics_engine", Resource: "visits"}

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, analytics.Kind{}, bindingtest.Suite{
		Good: good, Other: bundle.Binding{Name: "B", Kind: "analytics_engine", Resource: "sales"},
		Bad: map[string]bundle.Binding{
			"no dataset": {Name: "B", Kind: "analytics_engine"},
			"a quote":    {Name: "B", Kind: "analytics_engine", Resource: `a"b`},
			"reserved":   {Name: "B", Kind: "analytics_engine", Resource: "sqlite_stat1"},
			"a config":   {Name: "B", Kind: "analytics_engine", Resource: "visits", Config: json.RawMessage(`{}`)},
		},
		Shape: `if (B.writeDataPoint({ blobs: ["a"] }) !== undefined) throw new Error("shape");`,
		Refused: map[string]string{
			`B.writeDataPoint({ blobs: Array(21).fill("") })`:                   "TypeError: writeDataPoint(): Maximum of 20 blobs supported.",
			`B.writeDataPoint({ doubles: Array(21).fill(1) })`:                  "Maximum of 20 doubles supported.",
			`B.writeDataPoint({ indexes: ["a", "b"] })`:                         "Maximum of 1 indexes supported.",
			`B.writeDataPoint({ indexes: ["a".repeat(97)] })`:                   "Size of indexes exceeds 96 bytes.",
			`B.writeDataPoint({ blobs: ["a".repeat(9000), "b".repeat(9000)] })`: "Cumulative size of blobs exceeds 16384 bytes.",
			`B.writeDataPoint({ blobs: [1] })`:                                  "blobs must be strings, array buffers or null.",
			`B.writeDataPoint({ blobs: "a" })`:                                  "blobs must be an array.",
		},
	})
}

// ask runs SQL on the datasets of a set.
func ask(t *testing.T, set *binding.Set, sql string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	data := set.Data(func(w http.ResponseWriter, _ *http.Request, err error) { http.Error(w, err.Error(), http.StatusTeapot) })
	data.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/analytics/query", strings.NewReader(string(body))))
	return strings.TrimSpace(w.Body.String())
}

// TestRows: what a worker writes outlives its response, and SQL finds it.
func TestRows(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{analytics.Kind{}}, good)
	w := bindingtest.Start(t, set, `export default { async fetch(request, { B }) {
		B.writeDataPoint({ indexes: ["i"], blobs: ["a", null, new TextEncoder().encode("c")], doubles: [1.5, Infinity] });
		B.writeDataPoint({ doubles: [2] });
		B.writeDataPoint();
		return new Response("ok");
	} };`)
	w.Post(t, "/", "")
	svctest.Eventually(t, "the data points", func() bool {
		return ask(t, set, "select count(*) as n from visits") == `{"columns":["n"],"rows":[{"n":3}],"truncated":false}`
	})
	got := ask(t, set, "select index1, blob1, blob2, blob3, double1, double2, _sample_interval as s from visits order by double1 desc limit 2")
	want := `{"columns":["index1","blob1","blob2","blob3","double1","double2","s"],"rows":[` +
		`{"blob1":"","blob2":"","blob3":"","double1":2,"double2":0,"index1":"","s":1},` +
		`{"blob1":"a","blob2":"","blob3":"c","double1":1.5,"double2":0,"index1":"i","s":1}],"truncated":false}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := ask(t, set, "select timestamp > datetime('now', '-1 hour') as new, timestamp > datetime('now', '+1 minute') as later from visits limit 1"); !strings.Contains(got, `{"later":0,"new":1}`) {
		t.Error(got)
	}
	for sql, words := range map[string]string{
		"delete from visits":        "not authorized",
		"attach 'x' as y":           "not authorized",
		"pragma user_version":       "not authorized",
		"select 1; select 2":        "want one statement",
		"":                          "want one statement",
		"select absent from visits": "no such column: absent",
		"create temp table x (y)":   "not authorized",
		"with x as (select 1) update visits set index1 = 'x'": "not authorized",
	} {
		if got := ask(t, set, sql); !strings.Contains(got, words) {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestRetention: rows that are older than the retention are deleted by the next write.
func TestRetention(t *testing.T) {
	t.Parallel()
	volumes := bindingtest.OpenVolumes(t, t.TempDir())
	set := bindingtest.OpenSet(t, volumes, []binding.Kind{analytics.Kind{Keep: time.Hour}}, good)
	db, err := volumes.Database(t.Context(), "own-analytics")
	if err != nil {
		t.Fatal(err)
	}
	write := func() {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/write", strings.NewReader(`[{"index": "x", "blobs": [], "doubles": []}]`))
		r.Header.Set(binding.RouteHeader, binding.Route(good))
		if set.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
	}
	write()
	if err := db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec(`UPDATE visits SET timestamp = datetime('now', '-61 minutes')`) }); err != nil {
		t.Fatal(err)
	}
	set = bindingtest.OpenSet(t, volumes, []binding.Kind{analytics.Kind{Keep: time.Hour}}, good)
	write()
	if got := ask(t, set, "select count(*) as n from visits"); !strings.Contains(got, `{"n":1}`) {
		t.Error(got)
	}
}

// TestNone: a version without a dataset says so.
func TestNone(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, nil, []binding.Kind{analytics.Kind{}})
	if got := ask(t, set, "select 1"); !strings.Contains(got, "this version has no dataset") {
		t.Error(got)
	}
}
