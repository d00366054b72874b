package kv_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
)

func open(t *testing.T, v volume.Volumes) binding.Instance {
	t.Helper()
	in, err := kv.Kind{}.Open(t.Context(), bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"}, v)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// do makes one request as the binding does, without a worker, and gives the
// status and the body.
func do(t *testing.T, in binding.Instance, method, uri, body string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
	r.RequestURI = uri
	w := httptest.NewRecorder()
	in.ServeHTTP(w, r)
	return strings.TrimSpace(fmt.Sprintf("%d %s", w.Code, w.Body))
}

func want(t *testing.T, in binding.Instance, method, uri, body, answer string) {
	t.Helper()
	if got := do(t, in, method, uri, body); got != answer {
		t.Errorf("%s %s: got %q, want %q", method, uri, got, answer)
	}
}

// A key that has expired is gone for readers immediately, and from the disk with
// the next put.
func TestExpiration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		volumes := bindingtest.OpenVolumes(t, dir)
		in := open(t, volumes)
		want(t, in, "PUT", "/short?expiration_ttl=60", "a", "200")
		want(t, in, "PUT", fmt.Sprintf("/long?expiration=%d", time.Now().Unix()+61), "b", "200")
		want(t, in, "PUT", "/ever", "c", "200")
		time.Sleep(59 * time.Second)
		want(t, in, "GET", "/short", "", "200 a")
		time.Sleep(time.Second)
		want(t, in, "GET", "/short", "", "404")
		want(t, in, "GET", "/long", "", "200 b")
		want(t, in, "POST", "/bulk/get", `{"keys":["short","ever"]}`, `200 {"short":null,"ever":"c"}`)
		want(t, in, "PUT", "/other", "d", "200")
		if n := count(t, volumes); n != 3 {
			t.Errorf("%d rows after the sweep, want 3", n)
		}
		time.Sleep(time.Second)
		want(t, in, "GET", "/?prefix=", "", `200 {"keys":[{"name":"ever"},{"name":"other"}],"list_complete":true}`)
		open(t, volumes)
		if n := count(t, volumes); n != 2 {
			t.Errorf("%d rows after opening, want 2", n)
		}
	})
}

// A put without an expiration takes away an earlier one.
func TestPutReplacesAll(t *testing.T) {
	t.Parallel()
	in := open(t, bindingtest.OpenVolumes(t, t.TempDir()))
	want(t, in, "PUT", "/k?expiration=4000000000", "a", "200")
	want(t, in, "GET", "/", "", `200 {"keys":[{"name":"k","expiration":4000000000}],"list_complete":true}`)
	want(t, in, "PUT", "/k", "b", "200")
	want(t, in, "GET", "/", "", `200 {"keys":[{"name":"k"}],"list_complete":true}`)
}

func count(t *testing.T, v volume.Volumes) (n int64) {
	t.Helper()
	db, err := v.Database(t.Context(), "sys")
	if err != nil {
		t.Fatal(err)
	}
	err = db.Read(t.Context(), func(c *raw.Conn) error {
		return c.Query("SELECT count(*) FROM kv_entry", nil, func(s *raw.Stmt) error {
			n = s.Int64(0)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Requests that no binding sends are refused too.
func TestStrangeRequests(t *testing.T) {
	t.Parallel()
	in := open(t, bindingtest.OpenVolumes(t, t.TempDir()))
	for uri, answer := range map[string]string{
		"/%zz":                "400 Invalid key encoding",
		"/%ff":                "400 Invalid key encoding",
		"/k?cache_ttl=%zz":    "400 Invalid query",
		"/k?cache_ttl=abc":    "400 Invalid cache_ttl of abc. Cache TTL must be at least 30.",
		"/k?cache_ttl=30.5":   "400 Invalid cache_ttl of 30.5. Cache TTL must be at least 30.",
		"/?key_count_limit=x": "400 Invalid key_count_limit of NaN. Please specify an integer greater than 0.",
		"/?key_count_limit=999999999999999999999": "400 Invalid key_count_limit of 9223372036854775807. Please specify an integer less than 1000.",
		"/?cursor=%ff": "400 Invalid cursor.",
	} {
		want(t, in, http.MethodGet, uri, "", answer)
	}
	want(t, in, "POST", "/", "", "405 Method Not Allowed")
	want(t, in, "PUT", "/", "v", "400 Key names must not be empty")
	want(t, in, "PUT", "/..", "v", `400 Illegal key name "..". Please use a different name.`)
	for body, answer := range map[string]string{
		"": "400 Invalid JSON", "[]": "400 Invalid JSON", "{}": "400 You must request a minimum of 1 key",
		`{"keys":["a"],"type":"stream"}`:   `400 "stream" is not a valid type. Use "json" or "text"`,
		`{"keys":["a"],"cacheTtl":"1"}`:    "400 Invalid cache_ttl of 1. Cache TTL must be at least 30.",
		`{"keys":["a","a"],"type":"text"}`: `200 {"a":null}`,
	} {
		want(t, in, "POST", "/bulk/get", body, answer)
	}
}

// Metadata that is not JSON is refused: workerd reads it as JSON in every get and list. Such
// metadata of earlier releases is not shown.
func TestMetadataThatIsNotJSON(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	in := open(t, v)
	for metadata, answer := range map[string]string{"undefined": "400", "{": "400", "nul": "400", `"text"`: "200", "5": "200", "null": "200"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", strings.NewReader("v"))
		r.RequestURI = "/k"
		r.Header.Set("Cf-Kv-Metadata", metadata)
		w := httptest.NewRecorder()
		in.ServeHTTP(w, r)
		if got := fmt.Sprint(w.Code); got != answer {
			t.Errorf("metadata %s: %s %s, want %s", metadata, got, w.Body, answer)
		}
	}
	db, err := v.Database(t.Context(), volume.SharedDatabase)
	if err == nil {
		err = db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec(`UPDATE kv_entry SET metadata = 'undefined'`) })
	}
	if err != nil {
		t.Fatal(err)
	}
	want(t, in, "GET", "/", "", `200 {"keys":[{"name":"k"}],"list_complete":true}`)
	want(t, in, "GET", "/k", "", "200 v")
}

// A worker sees the refusal as an exception.
func TestMetadataOfAWorker(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{kv.Kind{}}, bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"})
	w := bindingtest.Start(t, set, `export default { async fetch(request, env) {
		let said;
		try { await env.KV.put("k", "v", { metadata: () => 1 }); } catch (e) { said = String(e); }
		return Response.json([said, (await env.KV.list()).keys]);
	} }`)
	if got, want := w.Post(t, "/", ""), `["Error: KV PUT failed: 400 Metadata must be valid JSON.",[]]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
