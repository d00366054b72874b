package entry_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

const caller = `export default { async fetch(_, env) { try { return await env.TARGET.fetch("http://x/"); } catch (e) { return new Response(String(e)); } } }`

// TestWithoutFetch: a request to a worker without a fetch handler says which handlers it has.
func TestWithoutFetch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"object":      {`export default { scheduled() {}, async queue() {}, other() {} }`, "200 Error: This worker has no fetch handler (it has scheduled, queue)."},
		"no handlers": {`export default {}`, "200 Error: This worker has no fetch handler (it has no handlers)."},
		"no default":  {`export class Thing {}`, "200 Error: This worker has no fetch handler (it has no handlers)."},
		"class":       {`import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { scheduled() {} }`, "200 Error: This worker has no fetch handler (it has scheduled)."},
		"inherited":   {`class App { fetch() { return new Response("app"); } } export default new App()`, "200 app"},
		"a base":      {`import { WorkerEntrypoint } from "cloudflare:workers"; class Base extends WorkerEntrypoint { fetch() { return new Response("base"); } } export default class extends Base {}`, "200 base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startChanged(t, func(config *workerd.Config) {
				config.Services = append(config.Services, workerd.Service{Name: "caller", Worker: &workerd.Worker{
					Modules: []workerd.Module{esm("c.js", caller)}, CompatibilityDate: "2026-11-01",
					Bindings: []workerd.Binding{{Name: "TARGET", Service: &workerd.ServiceRef{Name: "main"}}},
				}})
				config.Sockets[1].Service.Name = "caller"
			}, "2026-11-01", esm("w.js", c.source))
			if got := w.get("/"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
