package supervisor_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
)

// TestWorkOnTheDisk: a worker that makes Durable Objects for longer than PingTimeout answers
// no ping, since workerd waits for the disk several times for each, and is not killed.
func TestWorkOnTheDisk(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.PingEvery, c.PingTimeout = 20*time.Millisecond, time.Second })
	first := h.mustServe(h.spec(`import { DurableObject } from "cloudflare:workers";
		export class Room extends DurableObject { async enter() { await this.ctx.storage.put("k", "v"); } }
		export default { async fetch(req, env) {
			await Promise.all(Array.from({ length: 400 }, (_, i) => env.ROOMS.getByName("room " + i).enter()));
			return new Response("all of them"); } }`, func(m *bundle.Manifest) {
		m.ObjectClasses = []bundle.ObjectClass{{Name: "Room", Key: "Room"}}
		m.Bindings = []bundle.Binding{{Name: "ROOMS", Kind: "durable_object", Resource: "Room", Config: json.RawMessage(`{"class_name": "Room"}`)}}
	}))
	h.want(first, "/", "all of them")
	if r := h.Runtimes()[0]; r.Restarts != 0 {
		t.Errorf("runtime: %+v", r)
	}
}
