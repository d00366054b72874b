package kv_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/binding/kv"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// admin is the API's way to the namespaces of a set.
type admin struct {
	t *testing.T
	h http.Handler
}

func newAdmin(t *testing.T, names ...string) admin {
	t.Helper()
	var list []bundle.Binding
	for _, name := range names {
		list = append(list, bundle.Binding{Name: name, Kind: "kv", Resource: "ns-" + name})
	}
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{kv.Kind{}}, list...)
	return admin{t, set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		e := svc.AsError(err)
		http.Error(w, fmt.Sprintf("%s: %s: %s: %s", e.Kind, e.Code, e.Detail, e.Hint), http.StatusTeapot)
	})}
}

func (a admin) do(method, path string, body, metadata string) *httptest.ResponseRecorder {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, path, strings.NewReader(body))
	if metadata != "" {
		r.Header.Set("Svc-Kv-Metadata", metadata)
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return w
}

func (a admin) want(method, path, want string) {
	a.t.Helper()
	if got := strings.TrimSpace(a.do(method, path, "", "").Body.String()); !strings.HasPrefix(got, want) {
		a.t.Errorf("%s %s: %s, want %s", method, path, got, want)
	}
}

func TestAdminValues(t *testing.T) {
	t.Parallel()
	a := newAdmin(t, "KV", "OTHER")
	at := time.Now().Add(time.Hour).Unix()
	const value = "\x00\xff raw\n"
	for _, key := range []string{"plain", "a/b", "a%2Fb", "%C3%A9%20%3F", "a%2F..%2Fb", "a%2F%2Fb", strings.Repeat("k", 512)} {
		path := "/kv/KV/values/" + key
		if w := a.do("PUT", fmt.Sprintf("%s?expiration=%d", path, at), value, `{ "é": "😀\n" }`); w.Code != http.StatusNoContent {
			t.Fatalf("put %s: %d %s", key, w.Code, w.Body)
		}
		w := a.do("GET", path, "", "")
		if w.Code != http.StatusOK || w.Body.String() != value || w.Header().Get("Svc-Kv-Metadata") != `{"\u00e9":"\ud83d\ude00\n"}` ||
			w.Header().Get("Svc-Kv-Expiration") != fmt.Sprint(at) || w.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("get %s: %d %q %v", key, w.Code, w.Body, w.Header())
		}
	}
	a.want("GET", "/kv", fmt.Sprintf(`{"items":[{"binding":"KV","keys":6,"size_bytes":%d},{"binding":"OTHER","keys":0,"size_bytes":0}]}`, 6*len(value)))
	a.want("GET", "/kv/KV", fmt.Sprintf(`{"binding":"KV","keys":6,"size_bytes":%d}`, 6*len(value)))
	a.want("GET", "/bindings", fmt.Sprintf(`{"items":[{"name":"KV","kind":"kv","resource":"ns-KV","branched":false,"parent_version_id":null,"fork_txid":"","stats":{"keys":6,"size_bytes":%d}},`, 6*len(value)))
	for range 2 {
		if w := a.do("DELETE", "/kv/KV/values/plain", "", ""); w.Code != http.StatusNoContent {
			t.Errorf("delete: %d %s", w.Code, w.Body)
		}
	}
	if w := a.do("PUT", "/kv/KV/values/a%2Fb", "", ""); w.Code != http.StatusNoContent {
		t.Errorf("put: %d %s", w.Code, w.Body)
	}
	if w := a.do("GET", "/kv/KV/values/a%2Fb", "", ""); w.Body.Len() != 0 || w.Header().Get("Svc-Kv-Metadata")+w.Header().Get("Svc-Kv-Expiration") != "" {
		t.Errorf("the old value shows: %q %v", w.Body, w.Header())
	}
	a.want("GET", "/kv/KV/values/plain", "not found: key_not_found")
	a.want("GET", "/kv/KV/values/%2E%2E", "bad request: invalid_parameter: Illegal key name")
	a.want("GET", "/kv/NO/values/x", "not found: binding_not_found: NO is no key-value namespace of this version: it has KV, OTHER")
	a.want("PUT", "/kv/KV/values/"+strings.Repeat("k", 513), "bad request: invalid_key")
	a.want("PUT", "/kv/KV/values/x?expiration_ttl=5", "bad request: invalid_parameter: Invalid expiration_ttl of 5.")
	a.want("DELETE", "/kv/KV/values/%2E", "bad request: invalid_parameter")
	for metadata, want := range map[string]string{"{": "bad request: invalid_metadata", `"` + strings.Repeat("x", 1024) + `"`: "too large: value_too_large"} {
		if w := a.do("PUT", "/kv/KV/values/x", "", metadata); !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("metadata %.20s: %s", metadata, w.Body)
		}
	}
	if w := a.do("PUT", "/kv/KV/values/x", strings.Repeat("v", 25<<20+1), ""); !strings.HasPrefix(w.Body.String(), "too large: value_too_large") {
		t.Errorf("a large value: %s", w.Body)
	}
}

func TestAdminKeys(t *testing.T) {
	t.Parallel()
	a := newAdmin(t, "KV", "OTHER")
	for i := range 25 {
		a.do("PUT", fmt.Sprintf("/kv/KV/values/n%02d", i), "v", fmt.Sprintf(`{"i":%d}`, i))
	}
	a.do("PUT", "/kv/KV/values/z", "v", "")
	var all []string
	cursor := ""
	for pages := 0; ; pages++ {
		var page struct {
			Items []struct {
				Name     string `json:"name"`
				Metadata struct {
					I int `json:"i"`
				} `json:"metadata"`
			} `json:"items"`
			Next *string `json:"next_cursor"`
		}
		text := a.do("GET", "/kv/KV/keys?prefix=n&limit=10&cursor="+cursor, "", "").Body.String()
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, k := range page.Items {
			if k.Name != fmt.Sprintf("n%02d", k.Metadata.I) {
				t.Errorf("%+v", k)
			}
			all = append(all, k.Name)
		}
		if page.Next == nil {
			if pages != 2 || len(all) != 25 {
				t.Errorf("%d pages, %d keys", pages+1, len(all))
			}
			break
		}
		cursor = *page.Next
	}
	a.want("GET", "/kv/KV/keys?prefix=z", `{"items":[{"name":"z"}],"next_cursor":null}`)
	a.want("GET", "/kv/OTHER/keys", `{"items":[],"next_cursor":null}`)
	a.want("GET", "/kv/KV/keys?cursor="+cursor, "bad request: invalid_cursor")
	a.want("GET", "/kv/OTHER/keys?prefix=n&cursor="+cursor, "bad request: invalid_cursor")
	a.want("GET", "/kv/KV/keys?limit=0", "bad request: invalid_limit")
	a.want("GET", "/kv/KV/keys?limit=x", "bad request: invalid_limit")
}
