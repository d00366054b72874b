package entry_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// probe is an internal module that gives the number of the invocation that runs, or null.
const probe = `import { current } from "svc-internal:context";
let last = 0;
export default () => ({ id: () => {
  const state = current()?.state;
  if (!state) return null;
  if (!state.has("probe")) state.set("probe", ++last);
  return state.get("probe");
} });`

// worker is a worker behind the entry module, with a binding PROBE and one to its
// entrypoint Named.
type worker struct {
	get     func(path string) string
	ask     func(path string) string // of the entrypoint for the host
	waiting func() string            // the answer of that about work of waitUntil
}

func start(t *testing.T, date string, modules ...workerd.Module) worker {
	t.Helper()
	return startWith(t, nil, date, modules...)
}

func startWith(t *testing.T, v8Flags []string, date string, modules ...workerd.Module) worker {
	t.Helper()
	return startChanged(t, func(c *workerd.Config) { c.V8Flags = v8Flags }, date, modules...)
}

func startChanged(t *testing.T, change func(*workerd.Config), date string, modules ...workerd.Module) worker {
	t.Helper()
	bindings := []workerd.Binding{{Name: "PROBE", Wrapped: &workerd.Wrapped{Module: "svc-internal:probe"}}}
	if modules[0].Source == main || modules[0].Source == waits {
		bindings = append(bindings, workerd.Binding{Name: "SELF", Service: &workerd.ServiceRef{Name: "main", Entrypoint: "Named"}})
	}
	if modules[0].Source == plain {
		bindings = append(bindings, workerd.Binding{Name: "SELF", Service: &workerd.ServiceRef{Name: "main"}},
			workerd.Binding{Name: "OTHER", Service: &workerd.ServiceRef{Name: "main", Entrypoint: "other"}})
	}
	dir := bindingtest.Dir(t)
	socket, waiting := filepath.Join(dir, "s"), filepath.Join(dir, "w")
	config := workerd.Config{
		Services: []workerd.Service{{Name: "main", Worker: &workerd.Worker{
			Modules: entry.Before(modules, false, false), CompatibilityDate: date, Bindings: bindings,
		}}},
		Sockets: []workerd.Socket{
			{Name: "waiting", Address: "unix:" + waiting, Service: workerd.ServiceRef{Name: "main", Entrypoint: entry.Waiting}},
			{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "main"}},
		},
		Extensions: slices.Concat(entry.Extensions(3, false, false), []workerd.Module{{Name: "svc-internal:probe", Type: workerd.ESModule, Source: probe}}),
	}
	change(&config)
	client := workerdtest.Serve(t, config, socket)
	asks := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", waiting)
	}}}
	return worker{
		get:     func(path string) string { return get(t, client, path) },
		ask:     func(path string) string { return get(t, &asks, path) },
		waiting: func() string { return get(t, &asks, entry.PathWorks) },
	}
}

// get is the status and the text of an answer.
func get(t *testing.T, client *http.Client, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://worker.test"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status[:3] + " " + string(text)
}

func esm(name, source string) workerd.Module {
	return workerd.Module{Name: name, Type: workerd.ESModule, Source: source}
}

// main is a worker with each form of an entrypoint.
const main = `
import { WorkerEntrypoint, env } from "cloudflare:workers";
import { text } from "./lib/text.js";

export class Named extends WorkerEntrypoint {
  #secret = "private";
  async fetch() { return new Response(JSON.stringify([this.env.PROBE.id(), this.helper()])); }
  helper() { return this.env.PROBE.id(); }
  async call(x) { await scheduler.wait(1); return [x, this.#secret, this.env.PROBE.id(), this.helper()]; }
}
export const Plain = { fetch() { return new Response("plain"); } };
const outside = env.PROBE.id();
const app = {
  name: "app",
  async fetch(request, env, ctx) {
    const id = () => env.PROBE.id();
    const path = new URL(request.url).pathname;
    if (path === "/ids") {
      const first = id();
      await scheduler.wait(1);
      const timer = await new Promise((resolve) => setTimeout(() => resolve(id()), 1));
      const nested = await app.inner(env);
      return Response.json([outside, this === app, this.name, text, first === id(), first === timer, first === nested]);
    }
    if (path === "/id") return Response.json(id());
    if (path === "/rpc") return Response.json(await env.SELF.call("x"));
    if (path === "/named") return env.SELF.fetch("http://x/");
    if (path === "/class") return Response.json([Named.name, new Named(ctx, env) instanceof Named, Object.keys(this)]);
    throw new Error("nothing here");
  },
  async inner(env) { return env.PROBE.id(); },
};
export default app;`

// Each event is an invocation, which all that the event does is a part of, and the worker
// sees what it would see without the entry module.
func TestInvocations(t *testing.T) {
	t.Parallel()
	for _, date := range []string{"2023-05-01", "2024-10-01", "2026-11-17"} {
		t.Run(date, func(t *testing.T) {
			t.Parallel()
			w := start(t, date, esm("src/index.js", main), esm("src/lib/text.js", `export const text = "text";`), esm("svc-entry.js", "export {}"))
			for path, want := range map[string]string{
				"/ids":   `200 [null,true,"app","text",true,true,true]`,
				"/class": `200 ["Named",true,["name","fetch","inner"]]`,
			} {
				if got := w.get(path); got != want {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
			}
			if a, b := w.get("/id"), w.get("/id"); a == b || a == "200 null" {
				t.Errorf("two requests have the invocations %s and %s", a, b)
			}
		})
	}
}

// What outlives a request does not keep it: V8 finds the async context of a request only in a
// full collection, and until then the memory of workerd grows by all that the context has.
func TestRequestsAreNotKept(t *testing.T) {
	t.Parallel()
	const source = `let request, pending;
export default { async fetch(r) {
  if (r.url.endsWith("/first")) {
    request = new WeakRef(r);
    (pending = new Promise(() => {})).then(() => {}); // has the context
    return new Response("kept");
  }
  await scheduler.wait(1);
  return Response.json([request.deref() === undefined, pending !== undefined]);
} }`
	w := startWith(t, []string{"--expose-gc"}, "2026-11-17", esm("index.js", source))
	w.get("/first")
	for range collectedAfter {
		w.get("/more")
	}
	svctest.Eventually(t, "the request to be collected", func() bool { return w.get("/second") == "200 [true,true]" })
}

// Calls of an entrypoint's methods are invocations of their own, also from the same process.
func TestEntrypoints(t *testing.T) {
	t.Parallel()
	w := start(t, "2026-11-17", esm("index.js", main), esm("lib/text.js", `export const text = "text";`))
	if got, want := w.get("/rpc"), `200 ["x","private",1,1]`; got != want {
		t.Errorf("a call: %s, want %s", got, want)
	}
	if got, want := w.get("/named"), `200 [2,2]`; got != want {
		t.Errorf("a request: %s, want %s", got, want)
	}
}

// Any export that workerd takes, and any name of a module, is taken with the entry module too.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ module, source, want string }{
		"class":     {"index.js", `import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { fetch() { return new Response(String(this.env.PROBE.id() > 0)) } }`, "200 true"},
		"frozen":    {"index.js", `export default Object.freeze({ fetch: (r, env) => new Response(String(env.PROBE.id() > 0)) })`, "200 true"},
		"instance":  {"index.js", `class App { #x = 1; fetch = (r, env) => new Response(String([this.#x, env.PROBE.id() > 0])) } export default new App()`, "200 1,true"},
		"inherited": {"index.js", `class App { #x = 1; fetch(r, env) { return new Response(String([this.#x, env.PROBE.id() > 0])) } } export default new App()`, "200 1,true"},
		"nested":    {"a/b/c.js", `export default { fetch: () => new Response("deep") }`, "200 deep"},
		"odd name":  {"a b's é.js", `export default { fetch: () => new Response("odd") }`, "200 odd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "2026-11-17", esm(tc.module, tc.source))
			if got := w.get("/"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// An invocation that calls fetch too often is refused, and no other one is: in events, and
// in work that outlives the response.
func TestSubrequests(t *testing.T) {
	t.Parallel()
	const source = `export default { async fetch(r, env, ctx) {
  const tried = [];
  const call = async () => { try { await fetch("http://127.0.0.1:1/"); } catch (e) { tried.push(/^Too many subrequests/.test(e.message)); } };
  for (let i = 0; i < 2; i++) await call();
  await new Promise((done) => setTimeout(() => call().then(done), 1));
  await Promise.all([call(), call()]);
  return Response.json([tried, typeof fetch, fetch.name, self.fetch === fetch]);
} }`
	w := start(t, "2026-11-17", esm("index.js", source))
	for range 2 {
		if got, want := w.get("/"), `200 [[false,false,false,true,true],"function","fetch",true]`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
