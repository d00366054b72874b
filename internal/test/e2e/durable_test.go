//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/pkg/api"
)

// A chat on Durable Objects: what a room has acknowledged is there after its processes were
// killed, in a child, and after an archive; parent and child do not see each other's messages.
func TestDurableObjects(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/chat"
	d := started(t)
	v1 := d.deploy(dir, "--version", "v1")
	d.connected(v1, "lobby?name=ann", func(ctx context.Context, ann *websocket.Conn) {
		says(ctx, t, ann, `{"history":[]}`)
		if err := ann.Write(ctx, websocket.MessageText, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		says(ctx, t, ann, `{"author":"ann","text":"hello"}`)
		d.says(v1, "lobby?name=bob", "hi", `{"messages":2}`)
		says(ctx, t, ann, `{"author":"bob","text":"hi"}`)
	})
	const both = `[{"author":"ann","text":"hello"},{"author":"bob","text":"hi"}]`

	v2 := d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.history(v2, "lobby", both)
	d.says(v2, "lobby?name=cy", "only here", `{"messages":3}`)
	d.killRuntime(v1)
	d.history(v1, "lobby", both)
	d.kill()
	if !d.start() {
		t.Fatal("the daemon does not start")
	}
	d.history(v1, "lobby", both)

	d.ok(dir, "versions", "archive", "chat/v2")
	d.ok(dir, "versions", "wake", "chat/v2")
	d.history(v2, "lobby", strings.TrimSuffix(both, "]")+`,{"author":"cy","text":"only here"}]`)
	d.history(v1, "lobby", both)
}

// connected runs with a websocket to a room.
func (d *daemon) connected(v api.Version, room string, with func(context.Context, *websocket.Conn)) {
	d.t.Helper()
	conn, resp, err := websocket.Dial(d.t.Context(), v.PreviewURL+"/"+room, &websocket.DialOptions{HTTPClient: d.http()})
	if err != nil {
		d.t.Fatal(err)
	}
	if resp.Body != nil {
		defer resp.Body.Close()
	}
	with(d.t.Context(), conn)
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		d.t.Error(err)
	}
}

func says(ctx context.Context, t *testing.T, conn *websocket.Conn, want string) {
	t.Helper()
	if _, text, err := conn.Read(ctx); err != nil || string(text) != want {
		t.Fatalf("the room says %q, %v; want %q", text, err, want)
	}
}

func (d *daemon) says(v api.Version, room, text, want string) {
	d.t.Helper()
	if a := d.do(http.MethodPost, v.PreviewURL+"/"+room, "text/plain", text); a.Body != want {
		d.t.Errorf("%s: %d %s, want %s", room, a.Status, a.Body, want)
	}
}

func (d *daemon) history(v api.Version, room, want string) {
	d.t.Helper()
	d.serves(v.PreviewURL+"/"+room, want)
}
