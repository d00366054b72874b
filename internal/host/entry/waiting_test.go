package entry_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/script"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// waits gives work to waitUntil in each way; /end ends it.
const waits = `
import { WorkerEntrypoint, waitUntil } from "cloudflare:workers";
let ended = false;
const work = async () => { while (!ended) await scheduler.wait(5); };
export class Named extends WorkerEntrypoint {
  call() { this.ctx.waitUntil(work()); }
}
export default { async fetch(r, env, ctx) {
  switch (new URL(r.url).pathname) {
    case "/ctx": ctx.waitUntil(work()); break;
    case "/import": waitUntil(work()); break;
    case "/class": await env.SELF.call(); break;
    case "/thenable": ctx.waitUntil({ then(resolve) { work().then(resolve); } }); break;
    case "/rejects": ctx.waitUntil(work().then(() => { throw new Error("rejected"); })); break;
    case "/late": ctx.waitUntil(work().then(() => ctx.waitUntil(scheduler.wait(20)))); break;
    case "/value": ctx.waitUntil(5); break;
    case "/end": ended = true; break;
    case "/hung": ctx.waitUntil(new Promise(() => {})); break;
  }
  return new Response("ok");
} };`

// counts waits until n works are outstanding.
func (w worker) counts(t *testing.T, n string) {
	t.Helper()
	svctest.Eventually(t, "the work of waitUntil to be "+n, func() bool { return w.waiting() == "200 "+n })
}

// TestWaiting counts work of waitUntil from before the answer until it is over.
func TestWaiting(t *testing.T) {
	t.Parallel()
	for _, date := range []string{"2023-05-01", "2024-10-01", "2026-11-17"} {
		t.Run(date, func(t *testing.T) {
			t.Parallel()
			w := start(t, date, esm("index.js", waits))
			paths := []string{"/ctx", "/import", "/rejects", "/late"}
			if date > "2024-04-03" { // RPC
				paths = append(paths, "/class")
			}
			if date > "2025-10-01" { // workerd waits for thenables
				paths = append(paths, "/thenable")
			}
			if got := w.waiting(); got != "200 0" {
				t.Fatalf("before the first request: %s", got)
			}
			for i, path := range append(paths, "/value", "/none") {
				if got := w.get(path); got != "200 ok" {
					t.Fatalf("%s: %s", path, got)
				}
				if got, want := w.waiting(), "200 "+string('0'+rune(min(i+1, len(paths)))); got != want {
					t.Errorf("after %s: %s, want %s", path, got, want)
				}
			}
			w.get("/end")
			w.counts(t, "0")
		})
	}
}

// TestWaitingOfEnded: work of an invocation that workerd has ended is not waited for.
func TestWaitingOfEnded(t *testing.T) {
	t.Parallel()
	w := start(t, "2026-11-17", esm("index.js", waits))
	w.get("/hung")
	w.get("/ctx")
	w.counts(t, "1")
	w.get("/end")
	w.counts(t, "0")
}

// TestWaitingOfScript: in service-worker format, waitUntil is a method of the event.
func TestWaitingOfScript(t *testing.T) {
	t.Parallel()
	const source = `let ended = false;
const work = async () => { while (!ended) await scheduler.wait(5); };
addEventListener("fetch", (event) => {
  if (event.request.url.endsWith("/end")) ended = true;
  else event.waitUntil(work());
  event.respondWith(new Response("ok"));
});`
	w := start(t, "2026-11-17", script.Modules([]workerd.Module{{Name: "index.js", Source: source}})...)
	w.get("/")
	if got := w.waiting(); got != "200 1" {
		t.Errorf("got %s", got)
	}
	w.get("/end")
	w.counts(t, "0")
}

// TestWaitUntilLooksNative: a worker sees the waitUntil that it would see without the entry module.
func TestWaitUntilLooksNative(t *testing.T) {
	t.Parallel()
	const source = `import { exports } from "cloudflare:workers";
export default { fetch(r, env, ctx) {
  const said = [];
  const tried = (f) => { try { said.push(String(f())); } catch (e) { said.push(e.name + ": " + e.message.slice(0, 18)); } };
  const { waitUntil } = ctx;
  tried(() => ctx.waitUntil(Promise.resolve()));
  tried(() => waitUntil(Promise.resolve()));
  tried(() => ctx.waitUntil());
  tried(() => /native code/.test(waitUntil));
  tried(() => [waitUntil.name, waitUntil.length, Object.hasOwn(ctx, "waitUntil")]);
  tried(() => [Object.keys(exports), Object.keys(ctx.exports)]);
  return new Response(said.join("\n"));
} };`
	want := strings.Join([]string{
		"200 undefined", "TypeError: Illegal invocation", "TypeError: Failed to execute ", "true", "waitUntil,0,false", "default,default",
	}, "\n")
	w := start(t, "2026-11-17", esm("index.js", source))
	for range 2 {
		if got := w.get("/"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
