package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Data is a fake runtime with the data of one version.
func (f *fakes) Data(_ svc.Ref, r *http.Request) (*http.Response, error) {
	if f.bindings == nil {
		return nil, svc.Errorf(svc.Unavailable, "runtime_unavailable", "the runtime does not serve")
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if f.patience > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), f.patience)
		defer cancel()
		r = r.WithContext(ctx)
	}
	var refused error
	w := httptest.NewRecorder()
	f.bindings.Data(func(_ http.ResponseWriter, _ *http.Request, err error) { refused = err }).ServeHTTP(w, r)
	if refused != nil {
		return nil, refused
	}
	return w.Result(), nil
}

const v1 = "/v1/projects/shop/versions/v-1"

// withData serves a ready version with bindings.
func withData(t *testing.T, bindings ...bundle.Binding) *harness {
	t.Helper()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	h.fakes.bindings = bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), all.Kinds(), bindings...)
	return h
}

func one() []bundle.Binding {
	return []bundle.Binding{{Name: "DB", Kind: "database", Resource: "main"}, {Name: "KV", Kind: "kv", Resource: "cache"}, {Name: "META", Kind: "version_metadata"}}
}

func (h *harness) query(q api.DatabaseQuery) reply {
	h.t.Helper()
	return h.do(request{method: "POST", path: v1 + "/database/query", body: q})
}

func (h *harness) get(path string) reply {
	h.t.Helper()
	return h.do(request{method: "GET", path: v1 + path})
}

// spec: [C14.1]
func TestBindings(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	list := decode[api.BindingList](h.get("/bindings").want(200))
	want := []api.Binding{
		{Name: "DB", Kind: "database", Resource: "main", Stats: map[string]int64{"size_bytes": 4096, "tables": 0}},
		{Name: "KV", Kind: "kv", Resource: "cache", Stats: map[string]int64{"keys": 0, "size_bytes": 0}},
		{Name: "META", Kind: "version_metadata", Stats: map[string]int64{}},
	}
	if diff := cmp.Diff(want, list.Items); diff != "" {
		t.Error(diff)
	}
}

// spec: [C14.2] [C14.3] [C14.4] [C14.5]
func TestDatabase(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	write := false
	r := decode[api.QueryResults](h.query(api.DatabaseQuery{
		SQL: "create table t(id integer primary key, a, b); insert into t(a, b) values(?, ?), (2, null) returning id, b", ReadOnly: &write,
		Params: []any{9007199254740993, map[string]string{"$base64": "AP8="}},
	}).want(200))
	if got := fmt.Sprint(r.Results[1].Results, r.Results[1].Columns, r.Results[1].Meta.Changes); got != "[map[b:map[$base64:AP8=] id:1] map[b:<nil> id:2]] [id b] 2" {
		t.Error(got)
	}
	h.query(api.DatabaseQuery{SQL: "delete from t"}).wantProblem(422, "sql_error")
	h.query(api.DatabaseQuery{SQL: "selec"}).wantProblem(422, "sql_error")
	h.query(api.DatabaseQuery{SQL: "select 1", Binding: "NO"}).wantProblem(404, "binding_not_found")
	databases := decode[api.DatabaseList](h.get("/database").want(200))
	if got := databases.Items; len(got) != 1 || got[0].Binding != "DB" || got[0].Name != "main" || got[0].Tables != 1 || got[0].SizeBytes < 8192 {
		t.Errorf("%+v", got)
	}
	tables := decode[api.TableList](h.get("/database/tables").want(200))
	if got := tables.Items; len(got) != 1 || *got[0].RowCount != 2 || len(got[0].Columns) != 3 || got[0].Columns[0].PrimaryKey != 1 {
		t.Errorf("%+v", got)
	}
	page := decode[api.RowPage](h.get("/database/tables/t/rows?limit=1&order_by=a&dir=desc").want(200))
	if got := fmt.Sprint(page.Columns, page.Rows); got != "[id a b] [[1 9007199254740993 map[$base64:AP8=]]]" || page.NextCursor == nil {
		t.Fatal(got)
	}
	page = decode[api.RowPage](h.get("/database/tables/t/rows?limit=5000&order_by=a&dir=desc&cursor=" + *page.NextCursor).want(200))
	if got := fmt.Sprint(page.Rows); got != "[[2 2 <nil>]]" || page.NextCursor != nil {
		t.Error(got)
	}
	h.get("/database/tables/t/rows?cursor=AAAA").wantProblem(400, "invalid_cursor")
	h.get("/database/tables/no/rows").wantProblem(404, "table_not_found")
	h.do(request{method: "GET", path: v1 + "/database/tables/t/rows?limit=0", outside: true}).wantProblem(400, "invalid_limit")
	for body, code := range map[string]string{`{"sql":"select 1","rw":true}`: "unknown_field", `{"sql":1}`: "invalid_type", `[]`: "invalid_json", "": "body_required"} {
		h.do(request{method: "POST", path: v1 + "/database/query", body: body, outside: true}).wantProblem(400, code)
	}
}

func TestSeveralDatabases(t *testing.T) {
	t.Parallel()
	h := withData(t, bundle.Binding{Name: "A", Kind: "database", Resource: "a"}, bundle.Binding{Name: "B", Kind: "database", Resource: "b"})
	if p := h.get("/database/tables").wantProblem(400, "binding_required"); p.Hint != "name one: A, B" {
		t.Errorf("%+v", p)
	}
	h.query(api.DatabaseQuery{SQL: "select 1"}).wantProblem(400, "binding_required")
	h.get("/database/tables?binding=B").want(200)
	h.get("/kv/KV").wantProblem(404, "binding_not_found")
	if got := decode[api.NamespaceList](h.get("/kv").want(200)); len(got.Items) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	raw := http.Header{"Content-Type": {"application/octet-stream"}}
	send := func(query, text string) reply {
		t.Helper()
		return h.do(request{method: "POST", path: v1 + "/database/import" + query, body: text, header: raw, outside: true})
	}
	got := decode[api.DatabaseImport](send("?binding=DB", "create table t(a);\ninsert into t values (1), (2);").want(200))
	if got.Tables != 1 || got.Rows != 2 || got.Seconds <= 0 {
		t.Errorf("%+v", got)
	}
	p := send("", "insert into t values (3);\nnonsense;").wantProblem(422, "sql_error")
	if !strings.Contains(p.Detail, "line 2: near \"nonsense\": syntax error") {
		t.Errorf("%+v", p)
	}
	send("", "").wantProblem(400, "body_required")
	send("?binding=KV", "select 1;").wantProblem(404, "binding_not_found")
	send("", strings.Repeat("-- "+strings.Repeat("more than other bodies may have ", 1<<10)+"\n", 1<<10)).want(200)
	h.do(request{method: "POST", path: v1 + "/database/import", body: "select 1;", header: raw, outside: true, token: deployToken}).wantProblem(403, "forbidden")
	ref := svc.Ref{Project: "shop", Version: "v-1"}
	h.move(ref, svc.TriggerArchive)
	send("", "select 1;").wantProblem(409, "version_archived")
}

// TestImportTooLarge: a file that is too large is rejected before it is sent.
func TestImportTooLarge(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+v1+"/database/import", unsent{})
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Expect", "100-continue")
	req.ContentLength = 5<<30 + 1
	resp, err := (&http.Transport{ExpectContinueTimeout: time.Minute}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(resp.Status)
	}
}

// unsent is a body that must not be read.
type unsent struct{}

func (unsent) Read([]byte) (int, error) { panic("the body was sent") }

// spec: [C14.7] [C14.8] [C14.9]
func TestKeyValue(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	raw := http.Header{"Content-Type": {"application/octet-stream"}, "Svc-Kv-Metadata": {`{"a":"é"}`}}
	put := func(path, value string) reply {
		t.Helper()
		return h.do(request{method: "PUT", path: v1 + "/kv/KV/values/" + path, body: value, header: raw, outside: true})
	}
	put("key?expiration_ttl=60", "va\x00lue").want(204)
	got := h.get("/kv/KV/values/key").want(200)
	if string(got.body) != "va\x00lue" || got.Header.Get("Svc-Kv-Metadata") != `{"a":"\u00e9"}` || got.Header.Get("Svc-Kv-Expiration") == "" {
		t.Errorf("%q %v", got.body, got.Header)
	}
	keys := decode[api.KeyPage](h.get("/kv/KV/keys?prefix=k&limit=5000").want(200))
	if len(keys.Items) != 1 || keys.Items[0].Name != "key" || string(keys.Items[0].Metadata) != `{"a":"é"}` || keys.Items[0].Expiration == 0 || keys.NextCursor != nil {
		t.Errorf("%+v", keys)
	}
	if n := decode[api.Namespace](h.get("/kv/KV").want(200)); n.Keys != 1 || n.SizeBytes != 6 || n.Binding != "KV" {
		t.Errorf("%+v", n)
	}
	h.do(request{method: "DELETE", path: v1 + "/kv/KV/values/key"}).want(204)
	h.get("/kv/KV/values/key").wantProblem(404, "key_not_found")
	put("key?expiration_ttl=5", "").wantProblem(400, "invalid_parameter")
	put(strings.Repeat("k", 513), "").wantProblem(400, "invalid_key")
	put("key", strings.Repeat("v", 32<<20+1)).wantProblem(413, "body_too_large")
	h.get("/kv/KV/nothing").wantProblem(404, "path_not_found")
}

// TestDataOfVersionsThatDoNotServe: only the data of a version that serves can be read
// [D39].
func TestDataOfVersionsThatDoNotServe(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	h.version("shop", "v-2")
	ref := svc.Ref{Project: "shop", Version: "v-2"}
	path := "/v1/projects/shop/versions/v-2/kv/KV/values/k"
	ask := func() reply { return h.do(request{method: "GET", path: path}) }
	ask().wantProblem(409, "version_not_ready")
	h.deploy(ref)
	ask().wantProblem(404, "key_not_found")
	h.move(ref, svc.TriggerArchive)
	if p := ask().wantProblem(409, "version_archived"); !strings.Contains(p.Hint, "wake") {
		t.Errorf("%+v", p)
	}
	h.move(ref, svc.TriggerDestroy)
	ask().wantProblem(410, "version_destroyed")
	h.version("shop", "v-3")
	h.move(svc.Ref{Project: "shop", Version: "v-3"}, svc.TriggerFetch)
	h.move(svc.Ref{Project: "shop", Version: "v-3"}, svc.TriggerFail)
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-3/bindings"}).wantProblem(409, "version_failed")
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-9/bindings"}).wantProblem(404, "version_not_found")
	h.fakes.bindings = nil
	if got := h.get("/bindings"); got.wantProblem(503, "runtime_unavailable").Status != 503 || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v", got.Header)
	}
}

func (h *harness) move(ref svc.Ref, trigger svc.Trigger) {
	h.t.Helper()
	if _, err := h.db.Move(h.t.Context(), ref, trigger, svc.Change{}); err != nil {
		h.t.Fatal(err)
	}
}

// TestDataThroughTheSDK: the SDK reads and writes data with any key.
// spec: [C14.4] [C14.5] [C14.6] [C14.8] [C14.9]
func TestDataThroughTheSDK(t *testing.T) {
	t.Parallel()
	h := withData(t, one()...)
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	write := false
	results, err := c.Query(ctx, "shop", "v-1", api.DatabaseQuery{SQL: "create table t(a); insert into t values(1); select a from t", ReadOnly: &write})
	if err != nil || len(results) != 3 || results[2].Results[0]["a"] != 1.0 {
		t.Fatalf("%+v %v", results, err)
	}
	if _, err := c.Query(ctx, "shop", "v-1", api.DatabaseQuery{SQL: "delete from t"}); client.CodeOf(err) != "sql_error" {
		t.Errorf("read only: %v", err)
	}
	rows, err := c.Rows(ctx, "shop", "v-1", "t", client.RowsOptions{})
	if err != nil || len(rows.Rows) != 1 {
		t.Errorf("%+v %v", rows, err)
	}
	done, err := c.ImportDatabase(ctx, client.Import{Project: "shop", Version: "v-1", File: strings.NewReader("insert into t values (2),(3);")})
	if err != nil || done.Rows != 2 || done.Tables != 0 {
		t.Errorf("%+v %v", done, err)
	}
	sent := int64(0)
	piped := client.Import{Project: "shop", Version: "v-1", Binding: "DB", File: io.MultiReader(strings.NewReader("create table t(a);")), Progress: func(n int64) { sent = n }}
	if _, err := c.ImportDatabase(ctx, piped); client.CodeOf(err) != "sql_error" || sent != 18 {
		t.Errorf("import: %v, %d bytes sent", err, sent)
	}
	if _, err := c.ImportDatabase(ctx, client.Import{Project: "shop", Version: "v-1", File: strings.NewReader("")}); client.CodeOf(err) != "body_required" {
		t.Errorf("import of nothing: %v", err)
	}
	kv := client.KV{Project: "shop", Version: "v-1", Binding: "KV"}
	for _, key := range []string{"a", "a/b", "a//b", "../..", "%2F", "é ?#&+", "a/./b", "/", "😀"} {
		if err := c.PutValue(ctx, kv, key, bytes.NewReader([]byte(key)), client.NewValue{TTL: 60, Metadata: `{"x":"é"}`}); err != nil {
			t.Errorf("put %q: %v", key, err)
		}
		v, err := c.GetValue(ctx, kv, key)
		if err != nil || string(v.Data) != key || v.Metadata != `{"x":"\u00e9"}` || v.Expiration < time.Now().Unix() {
			t.Errorf("get %q: %+v %v", key, v, err)
		}
	}
	page, err := c.Keys(ctx, kv, "a", client.Page{Limit: 2})
	if err != nil || len(page.Items) != 2 || page.NextCursor == nil {
		t.Errorf("%+v %v", page, err)
	}
	if err := c.DeleteValue(ctx, kv, "a/b"); err != nil {
		t.Error(err)
	}
	if _, err := c.GetValue(ctx, kv, "a/b"); client.CodeOf(err) != "key_not_found" {
		t.Error(err)
	}
	if _, err := c.GetValue(ctx, kv, ".."); client.CodeOf(err) != "invalid_key" {
		t.Error(err)
	}
	namespaces, err := c.Namespaces(ctx, "shop", "v-1")
	if err != nil || len(namespaces) != 1 || namespaces[0].Keys != 8 {
		t.Errorf("%+v %v", namespaces, err)
	}
}

// spec: [C14.10] [C14.11] [C14.12] [C14.13] [C14.14] [C14.15] [C14.16]
func TestQueues(t *testing.T) {
	t.Parallel()
	h := withData(t)
	set, err := binding.OpenAll(t.Context(), all.Kinds(), &bundle.Manifest{
		Bindings:       []bundle.Binding{{Name: "JOBS", Kind: "queue_producer", Resource: "jobs"}},
		QueueConsumers: []bundle.QueueConsumer{{Queue: "jobs", DeadLetterQueue: "dead"}},
	}, bindingtest.OpenVolumes(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	h.fakes.bindings = set
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := client.Queue{Project: "shop", Version: "v-1", Name: "jobs"}
	id, err := c.SendMessage(t.Context(), q, api.NewMessage{Body: []byte(`{"a":1}`), DelaySeconds: 60})
	if err != nil || len(id) != 32 {
		t.Fatal(id, err)
	}
	list, err := c.Queues(t.Context(), "shop", "v-1")
	if err != nil || len(list) != 2 || list[0].Name != "jobs" || list[0].Delayed != 1 || list[0].Consumer.MaxBatchSize != 10 || *list[0].DeadLetterQueue != "dead" ||
		list[1].Name != "dead" || list[1].Consumer != nil {
		t.Errorf("%+v, %v", list, err)
	}
	messages, err := c.PeekMessages(t.Context(), q, api.MessageStateDelayed, 5)
	if err != nil || len(messages) != 1 || messages[0].ID != id || string(messages[0].Body) != `{"a":1}` || !messages[0].DueAt.After(messages[0].SentAt.Time) {
		t.Errorf("%+v, %v", messages, err)
	}
	if paused, err := c.PauseQueue(t.Context(), q); err != nil || !paused.Paused {
		t.Errorf("%+v, %v", paused, err)
	}
	if resumed, err := c.ResumeQueue(t.Context(), q); err != nil || resumed.Paused {
		t.Errorf("%+v, %v", resumed, err)
	}
	if moved, err := c.RedriveQueue(t.Context(), q, api.RedriveQueue{}); err != nil || moved != 0 {
		t.Errorf("moved %d, %v", moved, err)
	}
	if purged, err := c.PurgeQueue(t.Context(), q); err != nil || purged != 1 {
		t.Errorf("purged %d, %v", purged, err)
	}
	h.get("/queues/no").wantProblem(404, "queue_not_found")
	h.do(request{method: "POST", path: v1 + "/queues/dead/redrive"}).wantProblem(422, "no_dead_letter_queue")
	h.do(request{method: "POST", path: v1 + "/queues/jobs/messages", body: `{"text":1}`, outside: true}).wantProblem(400, "unknown_field")
}
