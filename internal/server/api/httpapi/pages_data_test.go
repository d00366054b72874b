package httpapi_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/pkg/api"
)

const keysPage = "/p/shop/v/v-1/data/kv/KV"

// pagesWithData serves a dashboard with a session, and a version with bindings.
func pagesWithData(t *testing.T) *browser {
	t.Helper()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v-1")
	b.fakes.bindings = bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), all.Kinds(), one()...)
	b.signIn(adminToken)
	return b
}

// put sends the form of a value; was is what the page showed.
func (b *browser) put(key, value, was string) int {
	b.t.Helper()
	return b.post(keysPage+"/do/put", url.Values{"key": {key}, "value": {value}, "was": {was}})
}

// was returns what the form of the page says of the value that it shows.
func (b *browser) was() string {
	if found := regexp.MustCompile(`name="was" value="([0-9a-f]+)"`).FindStringSubmatch(b.page); found != nil {
		return found[1]
	}
	return ""
}

// TestKeysOnPages: the data browser stores, changes and deletes keys, and overwrites no value
// that it did not show.
func TestKeysOnPages(t *testing.T) {
	t.Parallel()
	b := pagesWithData(t)
	if b.get(keysPage) != http.StatusOK || !strings.Contains(b.page, "Store a new key") {
		t.Fatal(b.page)
	}
	form := b.page
	if got := b.put("k/ü", "one\r\ntwo", ""); got != http.StatusSeeOther || b.header.Get("Location") != keysPage+"?key=k%2F%C3%BC" {
		t.Fatalf("a new key: %d %v %s", got, b.header, b.page)
	}
	if value := string(b.harness.get("/kv/KV/values/k%2F%C3%BC").want(200).body); value != "one\ntwo" {
		t.Errorf("stored %q", value)
	}
	b.page = form
	if got := b.put("k/ü", "other", ""); got != http.StatusConflict || !strings.Contains(b.page, "has a value already") {
		t.Errorf("a new key that exists: %d %s", got, b.page)
	}
	b.do(request{
		method: "PUT", path: v1 + "/kv/KV/values/k%2F%C3%BC?expiration_ttl=3600", body: "two", outside: true,
		header: http.Header{"Content-Type": {"application/octet-stream"}, "Svc-Kv-Metadata": {`{"a":1}`}},
	}).want(204)
	if b.get(keysPage+"?key=k%2F%C3%BC") != http.StatusOK || !strings.Contains(b.page, ">\ntwo</textarea>") || b.was() == "" {
		t.Fatal(b.page)
	}
	shown := b.page
	if got := b.put("k/ü", "three", b.was()); got != http.StatusSeeOther {
		t.Fatalf("change: %d %s", got, b.page)
	}
	got := b.harness.get("/kv/KV/values/k%2F%C3%BC").want(200)
	if string(got.body) != "three" || got.Header.Get("Svc-Kv-Metadata") != `{"a":1}` || got.Header.Get("Svc-Kv-Expiration") == "" {
		t.Errorf("%q %v", got.body, got.Header)
	}
	b.page = shown
	if got := b.put("k/ü", "four", b.was()); got != http.StatusConflict || !strings.Contains(b.page, "has changed since") {
		t.Errorf("a change of an old value: %d %s", got, b.page)
	}
	b.page = shown
	if got := b.post(keysPage+"/do/delete", url.Values{"key": {"k/ü"}}); got != http.StatusSeeOther || b.header.Get("Location") != keysPage {
		t.Errorf("delete: %d %v", got, b.header)
	}
	if list := decode[api.KeyPage](b.harness.get("/kv/KV/keys").want(200)); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
}

// TestValuesThatNoFormHolds: a value that a form would change is shown without one.
func TestValuesThatNoFormHolds(t *testing.T) {
	t.Parallel()
	b := pagesWithData(t)
	for key, value := range map[string]string{"binary": "\xff\x00", "lines": "a\r\nb", "large": strings.Repeat("x", 70_000)} {
		raw := http.Header{"Content-Type": {"application/octet-stream"}}
		b.do(request{method: "PUT", path: v1 + "/kv/KV/values/" + key, body: value, header: raw, outside: true}).want(204)
		if b.get(keysPage+"?key="+key) != http.StatusOK || b.was() != "" || !strings.Contains(b.page, "svcctl kv key put") {
			t.Errorf("%s: %s", key, b.page)
		}
	}
}

// TestLinesOfVariables: a variable of several lines has the line ends that were typed.
func TestLinesOfVariables(t *testing.T) {
	t.Parallel()
	b := pagesWithData(t)
	b.get("/p/shop/v/v-1/env")
	etag := regexp.MustCompile(`name="etag" value="([^"]*)"`).FindStringSubmatch(b.page)
	if etag == nil || b.post("/p/shop/v/v-1/env", url.Values{"name": {"PEM"}, "value": {"one\r\ntwo"}, "etag": {html.UnescapeString(etag[1])}}) != http.StatusSeeOther {
		t.Fatal(b.page)
	}
	env := decode[api.EnvList](b.harness.get("/env?reveal=true").want(200))
	for _, e := range env.Items {
		if e.Key == "PEM" && e.Value == "one\ntwo" {
			return
		}
	}
	t.Errorf("%+v", env)
}

// TestBulkOnPages: a bulk action that fails in part is said as a failure.
func TestBulkOnPages(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v1")
	b.signIn(adminToken)
	b.get("/p/shop")
	form := b.page
	if got := b.post("/p/shop/bulk", url.Values{"do": {"pin"}, "version": {"v1", "none"}}); got != http.StatusSeeOther {
		t.Fatalf("%d %s", got, b.page)
	}
	if b.get("/p/shop"); !strings.Contains(b.page, `<p class="note bad" role="alert">1 version pinned. Not pinned: none: `) {
		t.Errorf("%s", b.page)
	}
	b.page = form
	b.post("/p/shop/bulk", url.Values{"do": {"unpin"}, "version": {"v1"}})
	if b.get("/p/shop"); !strings.Contains(b.page, `<p class="note good" role="status">1 version unpinned.`) {
		t.Errorf("%s", b.page)
	}
}
