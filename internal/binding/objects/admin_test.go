package objects_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/binding/objects"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// admin is the API's way to the buckets of a set.
type admin struct {
	t *testing.T
	h http.Handler
}

func newAdmin(t *testing.T, names ...string) admin {
	t.Helper()
	var list []bundle.Binding
	for _, name := range names {
		list = append(list, bundle.Binding{Name: name, Kind: "object_store", Resource: "bucket-" + name})
	}
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{objects.Kind{}}, list...)
	return admin{t, set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		e := svc.AsError(err)
		http.Error(w, fmt.Sprintf("%s: %s: %s: %s", e.Kind, e.Code, e.Detail, e.Hint), http.StatusTeapot)
	})}
}

func (a admin) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, path, strings.NewReader(body))
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return w
}

func (a admin) want(method, path, want string, headers ...string) {
	a.t.Helper()
	if got := strings.TrimSpace(a.do(method, path, "", headers...).Body.String()); !strings.HasPrefix(got, want) {
		a.t.Errorf("%s %s: %s, want %s", method, path, got, want)
	}
}

func TestAdminObjects(t *testing.T) {
	t.Parallel()
	a := newAdmin(t, "FILES", "OTHER")
	const metadata = `{"http_metadata":{"content_type":"text/plain; charset=utf-8","cache_control":"no-store","cache_expiry":"2030-01-02T03:04:05Z"},
		"custom_metadata":{"é":"😀","a":"1"},"storage_class":"InfrequentAccess"}`
	body := string(large(100<<10, 1))
	for _, key := range []string{"plain", "a/b", "a%2Fc", "%C3%A9%20%3F", "a%2F..%2Fb", "a%2F%2Fb", strings.Repeat("k", 1024)} {
		path := "/objects/FILES/" + key
		if w := a.do("PUT", path, body, "Svc-Object-Metadata", strings.ReplaceAll(metadata, "\n", ""), "Content-Type", "overruled/by-metadata"); w.Code != http.StatusNoContent {
			t.Fatalf("put %s: %d %s", key, w.Code, w.Body)
		}
		for _, method := range []string{"GET", "HEAD"} {
			w := a.do(method, path, "")
			h := w.Header()
			if w.Code != http.StatusOK || h.Get("Content-Length") != fmt.Sprint(len(body)) || h.Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("%s %s: %d %v", method, key, w.Code, h)
			}
			if want := map[string]string{"GET": body}[method]; w.Body.String() != want {
				t.Errorf("%s %s: %d bytes, want %d", method, key, w.Body.Len(), len(want))
			}
			var got struct {
				Size   int64             `json:"size_bytes"`
				Class  string            `json:"storage_class"`
				Sums   map[string]string `json:"checksums"`
				ETag   string            `json:"etag"`
				HTTP   map[string]string `json:"http_metadata"`
				Custom map[string]string `json:"custom_metadata"`
			}
			text := h.Get("Svc-Object-Metadata")
			if err := json.Unmarshal([]byte(text), &got); err != nil || strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r < ' ' }) {
				t.Fatalf("%v: %q", err, text)
			}
			if fmt.Sprintf("%d %s %v %v", got.Size, got.Class, got.HTTP, got.Custom) != fmt.Sprintf("%d InfrequentAccess "+
				"map[cache_control:no-store cache_expiry:2030-01-02T03:04:05Z content_type:text/plain; charset=utf-8] map[a:1 é:😀]", len(body)) || got.Sums["md5"] != got.ETag {
				t.Errorf("%+v", got)
			}
		}
	}
	size := 7 * len(body)
	a.want("GET", "/objects", fmt.Sprintf(`{"items":[{"binding":"FILES","objects":7,"size_bytes":%d},{"binding":"OTHER","objects":0,"size_bytes":0}]}`, size))
	a.want("GET", "/bindings", fmt.Sprintf(`{"items":[{"name":"FILES","kind":"object_store","resource":"bucket-FILES","branched":false,"parent_version_id":null,"fork_txid":"","stats":{"objects":7,"size_bytes":%d}},`, size))
	for range 2 {
		if w := a.do("DELETE", "/objects/FILES/plain", ""); w.Code != http.StatusNoContent {
			t.Errorf("delete: %d %s", w.Code, w.Body)
		}
	}
	if w := a.do("PUT", "/objects/FILES/a/b", "", "Content-Type", "image/png"); w.Code != http.StatusNoContent {
		t.Errorf("put: %d %s", w.Code, w.Body)
	}
	if w := a.do("GET", "/objects/FILES/a/b", ""); w.Body.Len() != 0 || w.Header().Get("Content-Type") != "image/png" || strings.Contains(w.Header().Get("Svc-Object-Metadata"), "InfrequentAccess") {
		t.Errorf("the old object shows: %q %v", w.Body, w.Header())
	}
	a.want("GET", "/objects/FILES/plain", "not found: object_not_found")
	a.want("HEAD", "/objects/FILES/plain", "not found: object_not_found")
	a.want("GET", "/objects/NO/x", "not found: binding_not_found: NO is no object store of this version: it has FILES, OTHER")
}

func TestAdminRefuses(t *testing.T) {
	t.Parallel()
	a := newAdmin(t, "FILES")
	long := "/objects/FILES/" + strings.Repeat("k", 1025)
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		a.want(method, long, "bad request: invalid_key: a key may have 1024 bytes")
	}
	a.want("PUT", "/objects/FILES/", "bad request: invalid_key: the path names no object")
	a.want("PUT", "/objects/FILES/x", "bad request: invalid_metadata", "Svc-Object-Metadata", "{")
	a.want("PUT", "/objects/FILES/x", "bad request: invalid_metadata: custom metadata may have 2048 bytes", "Svc-Object-Metadata", `{"custom_metadata":{"k":"`+strings.Repeat("x", 2048)+`"}}`)
	a.want("PUT", "/objects/FILES/x", "bad request: invalid_parameter: The storage class", "Svc-Object-Metadata", `{"storage_class":"Cold"}`)
	a.want("GET", "/objects/FILES?limit=0", "bad request: invalid_limit")
	a.want("GET", "/objects/FILES?limit=x", "bad request: invalid_limit")
	a.want("GET", "/objects/FILES?cursor=x", "bad request: invalid_cursor")
	unread := strings.NewReader("a body that is refused is read all the same")
	a.h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "PUT", "/objects/NO/x", unread))
	if unread.Len() > 0 {
		t.Errorf("%d bytes of a refused body are not read", unread.Len())
	}
	r := httptest.NewRequestWithContext(t.Context(), "PUT", "/objects/FILES/x", strings.NewReader("x"))
	w := httptest.NewRecorder()
	r.ContentLength = -1
	if a.h.ServeHTTP(w, r); !strings.HasPrefix(w.Body.String(), "bad request: length_required") {
		t.Errorf("without a length: %s", w.Body)
	}
	r.ContentLength = 6 << 30
	w = httptest.NewRecorder()
	if a.h.ServeHTTP(w, r); !strings.HasPrefix(w.Body.String(), "too large: object_too_large") {
		t.Errorf("too large: %s", w.Body)
	}
	a.want("GET", "/objects", `{"items":[{"binding":"FILES","objects":0,"size_bytes":0}]}`)
}

func TestAdminList(t *testing.T) {
	t.Parallel()
	a := newAdmin(t, "FILES", "OTHER")
	for i := range 25 {
		a.do("PUT", fmt.Sprintf("/objects/FILES/dir/n%02d", i), "v")
		a.do("PUT", fmt.Sprintf("/objects/FILES/d%02d/x", i), "v")
	}
	a.do("PUT", "/objects/FILES/z", "v")
	collect := func(query string) (keys, prefixes []string, pages int, last string) {
		for cursor := ""; ; pages++ {
			var page struct {
				Items []struct {
					Key string `json:"key"`
				} `json:"items"`
				Prefixes []string `json:"prefixes"`
				Next     *string  `json:"next_cursor"`
			}
			text := a.do("GET", "/objects/FILES?"+query+"&cursor="+cursor, "").Body.String()
			if err := json.Unmarshal([]byte(text), &page); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, item := range page.Items {
				keys = append(keys, item.Key)
			}
			prefixes = append(prefixes, page.Prefixes...)
			if page.Next == nil {
				return keys, prefixes, pages + 1, cursor
			}
			cursor = *page.Next
		}
	}
	if keys, prefixes, pages, _ := collect("prefix=dir/&limit=10"); len(keys) != 25 || len(prefixes) != 0 || pages != 3 || !slices.IsSorted(keys) {
		t.Errorf("%d pages: %v %v", pages, keys, prefixes)
	}
	keys, prefixes, pages, cursor := collect("delimiter=/&limit=10")
	if strings.Join(keys, " ") != "z" || len(prefixes) != 26 || pages != 3 || prefixes[25] != "dir/" {
		t.Errorf("%d pages: %v %v", pages, keys, prefixes)
	}
	a.want("GET", "/objects/OTHER", `{"items":[],"prefixes":[],"next_cursor":null}`)
	a.want("GET", "/objects/FILES?limit=10&cursor="+cursor, "bad request: invalid_cursor")
	a.want("GET", "/objects/OTHER?delimiter=/&cursor="+cursor, "bad request: invalid_cursor")
}
