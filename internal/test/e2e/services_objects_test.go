//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

const roomWorker = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  add(n) { const v = (this.ctx.storage.kv.get("n") ?? 0) + n; this.ctx.storage.kv.put("n", v); return v; }
  own() { return this.ctx.id.toString(); }
  fail() { throw new TypeError("no good"); }
  fetch(request) {
    if (request.headers.get("upgrade") !== "websocket") return new Response("room " + new URL(request.url).pathname);
    const pair = new WebSocketPair();
    this.ctx.acceptWebSocket(pair[1]);
    return new Response(null, { status: 101, webSocket: pair[0] });
  }
  webSocketMessage(ws, text) { ws.send("echo " + text); }
}
export default { fetch: async (request, env) => {
  const id = env.ROOMS.idFromName("x");
  return new Response(id.toString() + " " + await env.ROOMS.get(id).add(1));
} };`

const roomCaller = `export default { async fetch(request, env) {
  const room = env.ROOMS.getByName("x");
  const calls = {
    id: () => env.ROOMS.idFromName("x").toString(),
    there: () => room.own(),
    add: () => room.add(2),
    other: async () => { const id = env.ROOMS.newUniqueId(); return (await env.ROOMS.get(env.ROOMS.idFromString(id.toString())).add(7)) + " " + id.equals(room.id); },
    fail: () => room.fail(),
    wrong: () => env.ROOMS.get("x"),
    fetch: async () => (await room.fetch("http://room/path")).text(),
  };
  const name = new URL(request.url).pathname.slice(1);
  if (name === "socket") return room.fetch(request);
  try { return new Response(String(await calls[name]())); }
  catch (e) { return new Response(e.name + ": " + e.message); }
} };`

// TestObjectsOfAnotherWorker: a worker uses the Durable Objects of another project's
// production, with the ids that they have there, also of a class that was renamed.
func TestObjectsOfAnotherWorker(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := svctest.Files(t, map[string]string{
		"rooms/wrangler.jsonc": `{ "name": "rooms", "main": "index.js", "compatibility_date": "2026-11-01",
			"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Room" }] },
			"migrations": [{ "tag": "v1", "new_sqlite_classes": ["Old"] }, { "tag": "v2", "renamed_classes": [{ "from": "Old", "to": "Room" }] }] }`,
		"rooms/index.js": roomWorker,
		"front/wrangler.jsonc": `{ "name": "front", "main": "index.js", "compatibility_date": "2026-11-01",
			"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Room", "script_name": "rooms" }] } }`,
		"front/index.js": roomCaller,
	})
	front := filepath.Join(dir, "front")
	if _, notes, code := d.run(front, "deploy", "--wait"); code == 0 || !strings.Contains(notes, "there is no project rooms") {
		t.Errorf("without the other worker: exit %d, %s", code, notes)
	}
	if _, notes, code := d.run(dir, "deploy", "-c", "front/wrangler.jsonc", "-c", "rooms/wrangler.jsonc", "--version", "v1", "--wait"); code != 0 {
		t.Fatalf("exit %d, %s", code, notes)
	}
	v, err := d.client().Version(t.Context(), "front", "v1")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := d.client().Version(t.Context(), "rooms", "v1")
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(d.get(theirs.PreviewURL).Body, " ")
	for _, test := range []struct{ path, want string }{
		{"/id", id}, {"/there", id}, {"/add", "3"}, {"/add", "5"}, {"/other", "7 false"}, {"/fail", "TypeError: no good"}, {"/fetch", "room /path"},
	} {
		if got := d.get(v.PreviewURL + test.path); got.Body != test.want {
			t.Errorf("%s: %q, want %q", test.path, got.Body, test.want)
		}
	}
	if got := d.get(v.PreviewURL + "/wrong").Body; !strings.HasPrefix(got, "TypeError: ") {
		t.Errorf("what is no id: %q", got)
	}
	ws, _, err := websocket.Dial(t.Context(), v.PreviewURL+"/socket", &websocket.DialOptions{HTTPClient: d.http()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.Read(t.Context()); err != nil || string(text) != "echo hello" {
		t.Errorf("the socket says %q, %v", text, err)
	}
	dir = worker(t, `{ "name": "front", "main": "index.js", "compatibility_date": "2026-11-01",
		"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Rooms", "script_name": "rooms" }] } }`, map[string]string{"index.js": roomCaller})
	if _, notes, code := d.run(dir, "deploy", "--wait"); code == 0 || !strings.Contains(notes, "rooms has no Durable Object class Rooms; it has Room") {
		t.Errorf("a class that does not exist: exit %d, %s", code, notes)
	}
}
