package inspect

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The port answers as Node.js does, and not to pages.
func TestList(t *testing.T) {
	t.Parallel()
	p := New(slog.New(slog.DiscardHandler))
	defer p.Close()
	p.Switch("shop", Target{Title: "shop", File: "/w/a b.ts"})
	p.Switch("web", Target{Title: "web"})
	p.Switch("shop", Target{Title: "shop of save 2", File: "/w/a b.ts"})
	for _, c := range []struct {
		path, host, origin string
		status             int
		text               string
	}{
		{"/json", "localhost:9229", "", 200, `"webSocketDebuggerUrl":"ws://localhost:9229/shop"`},
		{"/json/list", "127.0.0.1:9229", "devtools://devtools", 200, `"title":"shop of save 2","type":"node","url":"file:///w/a%20b.ts"`},
		{"/json/version", "[::1]:9229", "", 200, `"Protocol-Version":"1.3"`},
		{"/json", "evil.test:9229", "", 403, ""},
		{"/json", "localhost:9229", "http://localhost:8787", 403, ""},
		{"/shop", "localhost:9229", "https://evil.test", 403, ""},
		{"/other", "localhost:9229", "", 404, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.host+c.path, nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s of %s from %q: %d %s", c.path, c.host, c.origin, w.Code, w.Body)
		}
	}
}
