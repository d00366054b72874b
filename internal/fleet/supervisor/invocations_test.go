package supervisor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// invocations is a worker with each kind of invocation; most of them print one line.
const invocations = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
	fetch() {
		const { 0: client, 1: server } = new WebSocketPair();
		this.ctx.acceptWebSocket(server);
		return new Response(null, { status: 101, webSocket: client });
	}
	webSocketMessage(ws, text) {
		if (text !== "quiet") console.log("message", text);
		ws.send(text);
		if (text === "bad") throw new TypeError("cannot");
	}
	webSocketClose(ws, code) { console.log("closed"); ws.close(code); }
	arm() { return this.ctx.storage.setAlarm(Date.now()); }
	async alarm() { await scheduler.wait(1); console.log("alarm"); }
	silent() {}
}
export default {
	async fetch(request, env, ctx) {
		const room = env.ROOMS.getByName("lobby");
		switch (new URL(request.url).pathname) {
		case "/room": return room.fetch(new Request(request, { headers: { upgrade: "websocket" } }));
		case "/a": await room.arm(); await room.silent(); break;
		case "/later": {
			const timer = new Promise((done) => setTimeout(() => { console.log("in a timer"); done(); }, 1));
			ctx.waitUntil(timer.then(() => console.log("in waitUntil")));
			break;
		}
		case "/socket": {
			const { 0: client, 1: server } = new WebSocketPair();
			const once = (e) => { console.log("once", e.data); server.removeEventListener("message", once); };
			server.accept();
			server.addEventListener("message", once);
			server.addEventListener("message", (e) => { console.log("plain", e.data); server.send(e.data); });
			return new Response(null, { status: 101, webSocket: client });
		}
		}
		return new Response("ok");
	},
	scheduled({ cron }) { console.log("cron", cron); },
	queue({ messages }) { console.log("batch", messages.length); },
};`

// TestInvocations: each invocation that the gateway does not see has a record, with or without
// lines, and lines have the id of their invocation, also those after the response.
func TestInvocations(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(invocations, func(m *bundle.Manifest) {
		m.ObjectClasses = []bundle.ObjectClass{{Name: "Room", Key: "Room", SQL: true}}
		m.Bindings = append(m.Bindings, bundle.Binding{Name: "ROOMS", Kind: "durable_object", Resource: "Room", Config: json.RawMessage(`{"class_name": "Room"}`)})
	})
	e := h.mustServe(spec)
	h.want(e, "/later", "ok")
	h.want(e, "/a", "ok")
	h.talk(e, "/socket", "one", "two")
	h.talk(e, "/room", "quiet", "loud", "bad")
	for _, event := range []svc.Event{
		{Scheduled: &svc.Scheduled{Cron: "0 7 * * *", Time: time.Now()}},
		{Queue: &svc.QueueBatch{Queue: "jobs", Messages: []svc.QueueMessage{{ID: "1", Timestamp: time.Now(), Attempts: 1, ContentType: "text", Body: []byte("x")}}}},
	} {
		if _, err := h.Dispatch(t.Context(), spec.Ref, event); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{ // by invocation: its lines, then its record
		"6: in a timer | in waitUntil",
		"7: once one | plain one | plain two",
		`~: alarm | alarm Room "lobby": ok`,
		`~: batch 1 | queue "jobs" (messages: 1): ok`,
		`~: closed | webSocketClose Room "lobby": ok`,
		`~: cron 0 7 * * * | scheduled "0 7 * * *": ok`,
		`~: message bad | TypeError: cannot | webSocketMessage Room "lobby": exception`,
		`~: message loud | webSocketMessage Room "lobby": ok`,
		`~: webSocketMessage Room "lobby": ok`,
	}
	svctest.Succeeds(t, "the records of all invocations", func() error {
		if got := byInvocation(logTail(t, spec, 100)); !slices.Equal(got, want) {
			return fmt.Errorf("got %q", got)
		}
		return nil
	})
}

// byInvocation has the entries of each invocation in one line, without the numbers of ids and
// durations.
func byInvocation(lines []svc.LogLine) (list []string) {
	texts := map[string][]string{}
	for _, l := range lines {
		text, _, _ := strings.Cut(l.Message, "\n")
		text, _, _ = strings.Cut(text, " after ")
		texts[l.RequestID] = append(texts[l.RequestID], text)
	}
	for id, texts := range texts {
		if id = strings.TrimLeft(id, "0"); strings.HasPrefix(id, "~") {
			id = "~"
		}
		list = append(list, id+": "+strings.Join(texts, " | "))
	}
	slices.Sort(list)
	return list
}

// talk sends messages over a websocket, which echoes each of them.
func (h *harness) talk(e svc.Endpoint, path string, messages ...string) {
	h.t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", e.Socket)
	}}}
	header := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-" + requestID(path) + "-00"}}
	conn, resp, err := websocket.Dial(h.t.Context(), "ws://worker.test"+path, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.Body != nil {
		defer resp.Body.Close()
	}
	for _, m := range messages {
		if err := conn.Write(h.t.Context(), websocket.MessageText, []byte(m)); err != nil {
			h.t.Fatal(err)
		}
		if _, got, err := conn.Read(h.t.Context()); err != nil || string(got) != m {
			h.t.Fatalf("%s answers %q, %v", m, got, err)
		}
	}
	_ = conn.Close(websocket.StatusNormalClosure, "") // the worker may not answer it
}
