package kv_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
)

// Whatever a request: it is answered, a value that was stored can be read, and lists are
// JSON, metadata included, for any cursor.
func FuzzRequest(f *testing.F) {
	f.Add("PUT", "/a%2Fb?expiration_ttl=60", `{"a":1}`, "value")
	f.Add("PUT", "/k", "undefined", "")
	f.Add("PUT", "/%", "", "v")
	f.Add("GET", "/?prefix=a&key_count_limit=2&cursor=YQ%3D%3D", "", "")
	f.Add("GET", "/?cursor=%ff", "", "")
	f.Add("GET", "/?key_count_limit=x;y", "", "")
	f.Add("DELETE", "/a%2F..%2Fb", "", "")
	f.Add("POST", "/bulk/get", "", `{"keys":["a","b"],"type":"json","withMetadata":true,"cacheTtl":"60"}`)
	f.Add("POST", "/bulk/get", "", `{"keys":[null]}`)
	f.Add("PUT", "/bulk/get?expiration=99999999999999999999", "null", "v")
	in, err := kv.Kind{}.Open(f.Context(), bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"}, bindingtest.OpenVolumes(f, f.TempDir()))
	if err != nil {
		f.Fatal(err)
	}
	send := func(t *testing.T, method, uri, metadata, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Method, r.RequestURI = method, uri
		if metadata != "" {
			r.Header.Set("Cf-Kv-Metadata", metadata)
		}
		w := httptest.NewRecorder()
		in.ServeHTTP(w, r)
		return w
	}
	f.Fuzz(func(t *testing.T, method, uri, metadata, body string) {
		w := send(t, method, uri, metadata, body)
		path, _, _ := strings.Cut(uri, "?")
		if got := send(t, "GET", path, "", ""); method == "PUT" && w.Code == http.StatusOK && (got.Code != http.StatusOK || got.Body.String() != body) {
			t.Errorf("PUT %q of %q, and GET gives %d %q", uri, body, got.Code, got.Body)
		}
		var page struct {
			Keys []struct {
				Metadata string `json:"metadata"`
			} `json:"keys"`
		}
		list := send(t, "GET", "/", "", "")
		if err := json.Unmarshal(list.Body.Bytes(), &page); err != nil || list.Code != http.StatusOK {
			t.Fatalf("%d %s: %v", list.Code, list.Body, err)
		}
		for _, k := range page.Keys {
			if k.Metadata != "" && !json.Valid([]byte(k.Metadata)) {
				t.Errorf("metadata that is not JSON: %q", k.Metadata)
			}
		}
		if method == "PUT" {
			send(t, "DELETE", path, "", "")
		}
	})
}
