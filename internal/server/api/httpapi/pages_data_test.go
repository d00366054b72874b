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

const (
	keyPage  = keysPage + "?key=k%2F%C3%BC" // of the key "k/ü"
	keyValue = "/kv/KV/values/k%2F%C3%BC"
)

// show opens a page, which must be there.
func (b *browser) show(page string) {
	b.t.Helper()
	if got := b.get(page); got != http.StatusOK {
		b.t.Fatalf("%s: status %d, want 200", page, got)
	}
}

// sees checks the status of the answer to a form, and a text of the page.
func (b *browser) sees(what string, got, want int, text string) {
	b.t.Helper()
	if got != want || !strings.Contains(b.page, text) {
		b.t.Errorf("%s: status %d, want %d and the text %q in\n%s", what, got, want, text, b.page)
	}
}

// pagesWithKey are pages with the key "k/ü", whose value is "one".
func pagesWithKey(t *testing.T) *browser {
	t.Helper()
	b := pagesWithData(t)
	b.do(request{
		method: "PUT", path: v1 + keyValue + "?expiration_ttl=3600", body: "one", outside: true,
		header: http.Header{"Content-Type": {"application/octet-stream"}, "Svc-Kv-Metadata": {`{"a":1}`}},
	}).want(204)
	return b
}

// TestNewKeyOnPages: the form stores a key that does not exist, with line feeds as line ends.
func TestNewKeyOnPages(t *testing.T) {
	t.Parallel()
	b := pagesWithData(t)
	b.show(keysPage)
	b.sees("the page without keys", http.StatusOK, http.StatusOK, "Store a new key")
	b.sees("a new key", b.put("k/ü", "one\r\ntwo", ""), http.StatusSeeOther, "")
	if got := b.header.Get("Location"); got != keyPage {
		t.Errorf("after that the browser goes to %q, want %q", got, keyPage)
	}
	if value := string(b.harness.get(keyValue).want(200).body); value != "one\ntwo" {
		t.Errorf("stored %q, want %q", value, "one\ntwo")
	}
}

// TestNewKeyThatExists: the form for a new key overwrites none.
func TestNewKeyThatExists(t *testing.T) {
	t.Parallel()
	b := pagesWithKey(t)
	b.show(keysPage)
	b.sees("a new key that exists", b.put("k/ü", "other", ""), http.StatusConflict, "has a value already")
}

// TestChangeOnPages: a change keeps metadata and expiration, and one of a value that has changed since is refused.
func TestChangeOnPages(t *testing.T) {
	t.Parallel()
	b := pagesWithKey(t)
	b.show(keyPage)
	b.sees("the form", http.StatusOK, http.StatusOK, ">\none</textarea>")
	shown := b.page
	b.sees("a change", b.put("k/ü", "two", b.was()), http.StatusSeeOther, "")
	got := b.harness.get(keyValue).want(200)
	if string(got.body) != "two" {
		t.Errorf("stored %q, want %q", got.body, "two")
	}
	if m := got.Header.Get("Svc-Kv-Metadata"); m != `{"a":1}` {
		t.Errorf("metadata %q, want that of before", m)
	}
	if got.Header.Get("Svc-Kv-Expiration") == "" {
		t.Error("the value has no expiration any more")
	}
	b.page = shown
	b.sees("a change of an old value", b.put("k/ü", "three", b.was()), http.StatusConflict, "has changed since")
}

// TestDeleteOnPages: a key that is deleted is not in the list, to which the browser goes.
func TestDeleteOnPages(t *testing.T) {
	t.Parallel()
	b := pagesWithKey(t)
	b.show(keyPage)
	b.sees("delete", b.post(keysPage+"/do/delete", url.Values{"key": {"k/ü"}}), http.StatusSeeOther, "")
	if got := b.header.Get("Location"); got != keysPage {
		t.Errorf("after that the browser goes to %q, want %q", got, keysPage)
	}
	if list := decode[api.KeyPage](b.harness.get("/kv/KV/keys").want(200)); len(list.Items) != 0 {
		t.Errorf("the list has %d keys, want none", len(list.Items))
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
