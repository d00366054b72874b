package entry_test

import (
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
)

// The static files of the workers below: one file.
const someFiles = `export default { fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/logo") return new Response("logo " + request.method + " " + request.headers.get("x-own"));
  if (pathname === "/old") return new Response(null, { status: 301, headers: { location: "/new" } });
  return new Response(null, { status: 204, headers: { "svc-worker": "1" } });
} };`

const asks = `async (request, env, ctx) => {
    if (new URL(request.url).pathname !== "/") return new Response("worker " + (await request.text()) + JSON.stringify(ctx.props));
    const got = [Object.keys(env).sort().join(), atLoad];
    const text = async (url, init) => { const r = await env.SELF.fetch(url, { redirect: "manual", ...init }); got.push(r.status + " " + (await r.text())); };
    for (const n of [1, 2]) await text("http://x/logo", { headers: { "x-own": "kept" } });
    await text("http://x/logo", { method: "HEAD" });
    await text("http://x/old");
    await text("http://x/none", { method: "POST", body: "body" });
    got.push(await (await env.NAMED.fetch("http://x/logo")).text());
    return Response.json(got);
  }`

// TestFilesComeFirst: a call by a service binding asks the static files before the default export of a
// worker, also of a class, and no named entrypoint. Requests of visitors do not: the gateway has asked.
func TestFilesComeFirst(t *testing.T) {
	t.Parallel()
	const head = `import { WorkerEntrypoint, env } from "cloudflare:workers";
const atLoad = Object.keys(env).sort().join();
export class Named extends WorkerEntrypoint { fetch() { return new Response("named"); } }
const ask = ` + asks + ";\n"
	for name, source := range map[string]string{
		"plain": head + "export default { fetch: ask };",
		"class": head + "export default class extends WorkerEntrypoint { fetch(request) { return ask(request, this.env, this.ctx); } }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(bindingtest.Dir(t), "s")
			client := workerdtest.Serve(t, workerd.Config{
				Services: []workerd.Service{
					{Name: "main", Worker: &workerd.Worker{Modules: entry.Before([]workerd.Module{esm("w.js", source)}, true, false), CompatibilityDate: "2026-11-01", Bindings: []workerd.Binding{
						{Name: "SELF", Service: &workerd.ServiceRef{Name: "main", Props: `{"svc:call":{},"role":"own"}`}},
						{Name: "NAMED", Service: &workerd.ServiceRef{Name: "main", Entrypoint: "Named", Props: `{"svc:call":{}}`}},
						{Name: entry.Files, Service: &workerd.ServiceRef{Name: "files"}},
					}}},
					{Name: "files", Worker: &workerd.Worker{Modules: []workerd.Module{esm("f.js", someFiles)}, CompatibilityDate: "2026-11-01"}},
				},
				Sockets:    []workerd.Socket{{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "main"}}},
				Extensions: entry.Extensions(0, false, false),
			}, socket)
			const want = `200 ["NAMED,SELF","NAMED,SELF","200 logo GET kept","200 logo GET kept","200 ","301 ","200 worker body{\"role\":\"own\"}","named"]`
			if got := get(t, client, "/"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := get(t, client, "/logo"); got != "200 worker {}" {
				t.Errorf("a visitor: %s", got)
			}
		})
	}
}
