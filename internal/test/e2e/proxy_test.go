//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

const proxied = `export default {
  fetch(req, env) {
    const url = new URL(req.url);
    if (url.pathname === "/socket") {
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      server.addEventListener("message", (m) => server.send(env.VERSION_ID + " heard " + m.data));
      return new Response(null, { status: 101, webSocket: client });
    }
    if (url.pathname === "/login") {
      return new Response(null, { status: 302, headers: { Location: url.origin + "/home", "Set-Cookie": "s=1; Domain=" + url.hostname + "; Path=/" } });
    }
    return new Response(url.host + " " + req.headers.get("Origin"));
  },
};`

// TestProxy: a local port leads to a preview: requests have its host name, answers belong to
// the local address, and websockets pass.
func TestProxy(t *testing.T) {
	t.Parallel()
	d := started(t)
	v := d.deploy(worker(t, helloConfig, map[string]string{"index.js": proxied}), "--version", "v1")
	host := strings.TrimPrefix(v.PreviewURL, "http://")

	out, errs, code := d.run(d.home, "proxy", "hello/v9")
	if code != 5 || out != "" || !strings.HasPrefix(errs, "Error: ") || !strings.Contains(errs, "v9") {
		t.Errorf("a version that does not exist: exit code %d, %q, %q", code, out, errs)
	}
	p := d.follows("proxy", "hello/v1")
	local := p.await(`(http://localhost:\d+) leads to v1\n`)[1]
	local = strings.Replace(local, "localhost", "127.0.0.1", 1)
	ask := func(path string) answer {
		a, err := fetch(t.Context(), &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}, http.MethodGet, local+path, "", "Origin", local)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := ask("/"); a.Body != host+" "+v.PreviewURL {
		t.Errorf("%d %s, want the host and the origin %s", a.Status, a.Body, host)
	}
	a := ask("/login")
	if to, cookie := a.Header.Get("Location"), a.Header.Get("Set-Cookie"); a.Status != http.StatusFound || to != local+"/home" || strings.Contains(cookie, "Domain") {
		t.Errorf("%d to %q with the cookie %q", a.Status, to, cookie)
	}

	ctx, cancel := context.WithTimeout(t.Context(), svctest.Patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, local+"/socket", nil)
	if err != nil {
		t.Fatalf("%v %+v", err, resp)
	}
	defer ws.CloseNow()
	for _, text := range []string{"one", "two"} {
		if err := ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		says(ctx, t, ws, "v1 heard "+text)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d after Ctrl-C", code)
	}
	if _, _, err := ws.Read(ctx); err == nil {
		t.Error("the websocket is open after the end of the command")
	}
}
