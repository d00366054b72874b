//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

type guestbook struct {
	Greeting string
	Version  string
	Visits   int
	Entries  []struct{ Name, Message string }
}

func (d *daemon) guestbook(url string) guestbook {
	d.t.Helper()
	a := d.served(url + "/api")
	var g guestbook
	if err := json.Unmarshal([]byte(a.Body), &g); err != nil || a.Status != http.StatusOK {
		d.t.Fatalf("%s: %d %s", url, a.Status, a.Body)
	}
	return g
}

// TestFromDirectoryToProduction is the main job: two versions of a real worker,
// each on its own host with its own data, one promoted and rolled back.
// spec: [C1.1] [C1.2] [C2.17] [C3.5] [C3.6] [C4.7] [C6.4] [C6.7] [C8.12]
func TestFromDirectoryToProduction(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	one := d.deploy(dir, "--version", "v1")
	if !one.IsProduction {
		t.Error("the first ready version is not production")
	}
	two := d.deploy(dir, "--version", "v2", "--var", "GREETING:Good day")
	if two.IsProduction {
		t.Error("the second version became production by itself")
	}
	d.sign(one.PreviewURL, "ada", 201)
	d.sign(one.PreviewURL, "", 422)
	if g := d.guestbook(one.PreviewURL); g.Greeting != "Hello" || g.Version != "v1" || len(g.Entries) != 1 || g.Entries[0].Name != "ada" {
		t.Errorf("v1: %+v", g)
	}
	if g := d.guestbook(two.PreviewURL); g.Greeting != "Good day" || g.Version != "v2" || len(g.Entries) != 0 || g.Visits != 1 {
		t.Errorf("v2 sees another version's data: %+v", g)
	}
	d.expectProduction(one.ProdURL, "v1")
	d.ok(dir, "promote", "v2", "--leave-writes")
	d.expectProduction(one.ProdURL, "v2")
	d.ok(dir, "promote", "v2", "--leave-writes") // unchanged
	d.ok(dir, "rollback")
	d.expectProduction(one.ProdURL, "v1")
	d.chat(two.PreviewURL, "Good day, bob (from v2)")
	if code := d.stop(); code != 0 {
		t.Errorf("a polite stop ended with %d", code)
	}
}

func (d *daemon) sign(url, name string, want int) {
	d.t.Helper()
	body, err := json.Marshal(map[string]string{"name": name, "message": "was here"})
	if err != nil {
		d.t.Fatal(err)
	}
	if a := d.do(http.MethodPost, url+"/entries", "application/json", string(body)); a.Status != want {
		d.t.Errorf("sign as %q: %d %s, want %d", name, a.Status, a.Body, want)
	}
}

func (d *daemon) expectProduction(url, version string) {
	d.t.Helper()
	a := d.get(url + "/api")
	if got := a.Header.Get("Svc-Version"); got != version || !strings.Contains(a.Body, `"version":"`+version+`"`) {
		d.t.Errorf("production answers from %q: %s, want %s", got, a.Body, version)
	}
}

func (d *daemon) ok(dir string, args ...string) string {
	d.t.Helper()
	out, errs, code := d.run(dir, args...)
	if code != 0 {
		d.t.Fatalf("svcctl %s: exit %d\n%s%s", strings.Join(args, " "), code, errs, out)
	}
	return out
}

func (d *daemon) chat(url, want string) {
	d.t.Helper()
	ws, resp, err := websocket.Dial(d.t.Context(), url+"/live", &websocket.DialOptions{HTTPClient: d.http()})
	if err != nil {
		d.t.Fatalf("websocket: %v (%v)", err, resp)
	}
	defer ws.CloseNow()
	if err := ws.Write(d.t.Context(), websocket.MessageText, []byte("bob")); err != nil {
		d.t.Fatal(err)
	}
	_, got, err := ws.Read(d.t.Context())
	if err != nil || string(got) != want {
		d.t.Errorf("websocket said %q, %v; want %q", got, err, want)
	}
	if err := ws.Close(websocket.StatusNormalClosure, ""); err != nil {
		d.t.Errorf("closing: %v", err)
	}
}
