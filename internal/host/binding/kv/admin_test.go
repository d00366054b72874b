package kv_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
)

// metadata is the header of a value's metadata.
const metadata = "Svc-Kv-Metadata"

func TestAdminValues(t *testing.T) {
	t.Parallel()
	a := bindingtest.OpenAdmin(t, kv.Kind{}, "KV", "OTHER")
	at := time.Now().Add(time.Hour).Unix()
	const value = "\x00\xff raw\n"
	for _, key := range []string{"plain", "a/b", "a%2Fb", "%C3%A9%20%3F", "a%2F..%2Fb", "a%2F%2Fb", strings.Repeat("k", 512)} {
		path := "/kv/KV/values/" + key
		if w := a.Do("PUT", fmt.Sprintf("%s?expiration=%d", path, at), value, metadata, `{ "é": "😀\n" }`); w.Code != http.StatusNoContent {
			t.Fatalf("put %s: %d %s", key, w.Code, w.Body)
		}
		w := a.Do("GET", path, "")
		if w.Code != http.StatusOK || w.Body.String() != value || w.Header().Get(metadata) != `{"\u00e9":"\ud83d\ude00\n"}` ||
			w.Header().Get("Svc-Kv-Expiration") != fmt.Sprint(at) || w.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("get %s: %d %q %v", key, w.Code, w.Body, w.Header())
		}
	}
	a.Want("GET", "/kv", fmt.Sprintf(`{"items":[{"binding":"KV","keys":6,"size_bytes":%d},{"binding":"OTHER","keys":0,"size_bytes":0}]}`, 6*len(value)))
	a.Want("GET", "/kv/KV", fmt.Sprintf(`{"binding":"KV","keys":6,"size_bytes":%d}`, 6*len(value)))
	a.Want("GET", "/bindings", fmt.Sprintf(`{"items":[{"name":"KV","kind":"kv","resource":"resource-KV","branched":false,"parent_version_id":null,"fork_txid":"","stats":{"keys":6,"size_bytes":%d}},`, 6*len(value)))
	for range 2 {
		if w := a.Do("DELETE", "/kv/KV/values/plain", ""); w.Code != http.StatusNoContent {
			t.Errorf("delete: %d %s", w.Code, w.Body)
		}
	}
	if w := a.Do("PUT", "/kv/KV/values/a%2Fb", ""); w.Code != http.StatusNoContent {
		t.Errorf("put: %d %s", w.Code, w.Body)
	}
	if w := a.Do("GET", "/kv/KV/values/a%2Fb", ""); w.Body.Len() != 0 || w.Header().Get(metadata)+w.Header().Get("Svc-Kv-Expiration") != "" {
		t.Errorf("the old value shows: %q %v", w.Body, w.Header())
	}
	a.Want("GET", "/kv/KV/values/plain", "not found: key_not_found")
	a.Want("GET", "/kv/KV/values/%2E%2E", "bad request: invalid_parameter: Illegal key name")
	a.Want("GET", "/kv/NO/values/x", "not found: binding_not_found: NO is no key-value namespace of this version: it has KV, OTHER")
	a.Want("PUT", "/kv/KV/values/"+strings.Repeat("k", 513), "bad request: invalid_key")
	a.Want("PUT", "/kv/KV/values/x?expiration_ttl=5", "bad request: invalid_parameter: Invalid expiration_ttl of 5.")
	a.Want("DELETE", "/kv/KV/values/%2E", "bad request: invalid_parameter")
	for text, want := range map[string]string{"{": "bad request: invalid_metadata", `"` + strings.Repeat("x", 1024) + `"`: "too large: value_too_large"} {
		if w := a.Do("PUT", "/kv/KV/values/x", "", metadata, text); !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("metadata %.20s: %s", text, w.Body)
		}
	}
	if w := a.Do("PUT", "/kv/KV/values/x", strings.Repeat("v", 25<<20+1)); !strings.HasPrefix(w.Body.String(), "too large: value_too_large") {
		t.Errorf("a large value: %s", w.Body)
	}
}

func TestAdminKeys(t *testing.T) {
	t.Parallel()
	a := bindingtest.OpenAdmin(t, kv.Kind{}, "KV", "OTHER")
	for i := range 25 {
		a.Do("PUT", fmt.Sprintf("/kv/KV/values/n%02d", i), "v", metadata, fmt.Sprintf(`{"i":%d}`, i))
	}
	a.Do("PUT", "/kv/KV/values/z", "v")
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
		text := a.Do("GET", "/kv/KV/keys?prefix=n&limit=10&cursor="+cursor, "").Body.String()
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
	a.Want("GET", "/kv/KV/keys?prefix=z", `{"items":[{"name":"z"}],"next_cursor":null}`)
	a.Want("GET", "/kv/OTHER/keys", `{"items":[],"next_cursor":null}`)
	a.Want("GET", "/kv/KV/keys?cursor="+cursor, "bad request: invalid_cursor")
	a.Want("GET", "/kv/OTHER/keys?prefix=n&cursor="+cursor, "bad request: invalid_cursor")
	a.Want("GET", "/kv/KV/keys?limit=0", "bad request: invalid_limit")
	a.Want("GET", "/kv/KV/keys?limit=x", "bad request: invalid_limit")
}
