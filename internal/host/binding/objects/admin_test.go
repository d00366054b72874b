package objects_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
)

func TestAdminObjects(t *testing.T) {
	t.Parallel()
	a := bindingtest.OpenAdmin(t, objects.Kind{}, "FILES", "OTHER")
	const metadata = `{"http_metadata":{"content_type":"text/plain; charset=utf-8","cache_control":"no-store","cache_expiry":"2030-01-02T03:04:05Z"},
		"custom_metadata":{"é":"😀","a":"1"},"storage_class":"InfrequentAccess"}`
	body := string(large(100<<10, 1))
	for _, key := range []string{"plain", "a/b", "a%2Fc", "%C3%A9%20%3F", "a%2F..%2Fb", "a%2F%2Fb", strings.Repeat("k", 1024)} {
		path := "/objects/FILES/" + key
		if w := a.Do("PUT", path, body, "Svc-Object-Metadata", strings.ReplaceAll(metadata, "\n", ""), "Content-Type", "overruled/by-metadata"); w.Code != http.StatusNoContent {
			t.Fatalf("put %s: %d %s", key, w.Code, w.Body)
		}
		for _, method := range []string{"GET", "HEAD"} {
			w := a.Do(method, path, "")
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
	a.Want("GET", "/objects", fmt.Sprintf(`{"items":[{"binding":"FILES","objects":7,"size_bytes":%d},{"binding":"OTHER","objects":0,"size_bytes":0}]}`, size))
	a.Want("GET", "/bindings", fmt.Sprintf(`{"items":[{"name":"FILES","kind":"object_store","resource":"resource-FILES","branched":false,"parent_version_id":null,"fork_txid":"","stats":{"objects":7,"size_bytes":%d}},`, size))
	for range 2 {
		if w := a.Do("DELETE", "/objects/FILES/plain", ""); w.Code != http.StatusNoContent {
			t.Errorf("delete: %d %s", w.Code, w.Body)
		}
	}
	if w := a.Do("PUT", "/objects/FILES/a/b", "", "Content-Type", "image/png"); w.Code != http.StatusNoContent {
		t.Errorf("put: %d %s", w.Code, w.Body)
	}
	if w := a.Do("GET", "/objects/FILES/a/b", ""); w.Body.Len() != 0 || w.Header().Get("Content-Type") != "image/png" || strings.Contains(w.Header().Get("Svc-Object-Metadata"), "InfrequentAccess") {
		t.Errorf("the old object shows: %q %v", w.Body, w.Header())
	}
	a.Want("GET", "/objects/FILES/plain", "not found: object_not_found")
	a.Want("HEAD", "/objects/FILES/plain", "not found: object_not_found")
	a.Want("GET", "/objects/NO/x", "not found: binding_not_found: NO is no object store of this version: it has FILES, OTHER")
}

func TestAdminRefuses(t *testing.T) {
	t.Parallel()
	a := bindingtest.OpenAdmin(t, objects.Kind{}, "FILES")
	long := "/objects/FILES/" + strings.Repeat("k", 1025)
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		a.Want(method, long, "bad request: invalid_key: a key may have at most 1024 bytes")
	}
	a.Want("PUT", "/objects/FILES/", "bad request: invalid_key: the path names no object")
	a.Want("PUT", "/objects/FILES/x", "bad request: invalid_metadata", "Svc-Object-Metadata", "{")
	a.Want("PUT", "/objects/FILES/x", "bad request: invalid_metadata: custom metadata may have at most 8192 bytes", "Svc-Object-Metadata", `{"custom_metadata":{"k":"`+strings.Repeat("x", 8192)+`"}}`)
	a.Want("PUT", "/objects/FILES/x", "bad request: invalid_parameter: The storage class", "Svc-Object-Metadata", `{"storage_class":"Cold"}`)
	a.Want("GET", "/objects/FILES?limit=0", "bad request: invalid_limit")
	a.Want("GET", "/objects/FILES?limit=x", "bad request: invalid_limit")
	a.Want("GET", "/objects/FILES?cursor=x", "bad request: invalid_cursor")
	unread := strings.NewReader("a body that is refused is read all the same")
	a.Handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "PUT", "/objects/NO/x", unread))
	if unread.Len() > 0 {
		t.Errorf("%d bytes of a refused body are not read", unread.Len())
	}
	r := httptest.NewRequestWithContext(t.Context(), "PUT", "/objects/FILES/x", strings.NewReader("x"))
	w := httptest.NewRecorder()
	r.ContentLength = -1
	if a.Handler.ServeHTTP(w, r); !strings.HasPrefix(w.Body.String(), "bad request: length_required") {
		t.Errorf("without a length: %s", w.Body)
	}
	r.ContentLength = 6 << 30
	w = httptest.NewRecorder()
	if a.Handler.ServeHTTP(w, r); !strings.HasPrefix(w.Body.String(), "too large: object_too_large") {
		t.Errorf("too large: %s", w.Body)
	}
	a.Want("GET", "/objects", `{"items":[{"binding":"FILES","objects":0,"size_bytes":0}]}`)
}

func TestAdminList(t *testing.T) {
	t.Parallel()
	a := bindingtest.OpenAdmin(t, objects.Kind{}, "FILES", "OTHER")
	for i := range 25 {
		a.Do("PUT", fmt.Sprintf("/objects/FILES/dir/n%02d", i), "v")
		a.Do("PUT", fmt.Sprintf("/objects/FILES/d%02d/x", i), "v")
	}
	a.Do("PUT", "/objects/FILES/z", "v")
	collect := func(query string) (keys, prefixes []string, pages int, last string) {
		for cursor := ""; ; pages++ {
			var page struct {
				Items []struct {
					Key string `json:"key"`
				} `json:"items"`
				Prefixes []string `json:"prefixes"`
				Next     *string  `json:"next_cursor"`
			}
			text := a.Do("GET", "/objects/FILES?"+query+"&cursor="+cursor, "").Body.String()
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
	a.Want("GET", "/objects/OTHER", `{"items":[],"prefixes":[],"next_cursor":null}`)
	a.Want("GET", "/objects/FILES?limit=10&cursor="+cursor, "bad request: invalid_cursor")
	a.Want("GET", "/objects/OTHER?delimiter=/&cursor="+cursor, "bad request: invalid_cursor")
}
