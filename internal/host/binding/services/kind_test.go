package services_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// entrypoint is a class that a worker exports beside its default export.
const entrypoint = `import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
class Counter extends RpcTarget { #n = 0; add(k) { return this.#n += k; } }
export class Admin extends WorkerEntrypoint {
  fetch(request) { return new Response("admin " + new URL(request.url).pathname); }
  who() { return this.ctx.props.role; }
  counter() { return new Counter(); }
  async call(f) { return await f(7); }
  fail() { throw new TypeError("no good"); }
}
`

func self(config string) bundle.Binding {
	return bundle.Binding{Name: "B", Kind: "service", Resource: "app", Config: json.RawMessage(config)}
}

// TestSelf: a worker calls an entrypoint of its own.
func TestSelf(t *testing.T) {
	t.Parallel()
	noName := self(`{"self": true}`)
	noName.Resource = ""
	bindingtest.Run(t, services.Kind{}, bindingtest.Suite{
		Classes: entrypoint,
		Good:    self(`{"self": true, "entrypoint": "Admin", "props": {"role": "owner"}}`),
		Other:   self(`{"self": true}`),
		Bad: map[string]bundle.Binding{
			"no name":            noName,
			"props of no object": self(`{"self": true, "props": [1]}`),
			"an unknown field":   self(`{"self": true, "prop": {}}`),
			"props of objects":   self(`{"object_class": "Room", "props": {}}`),
		},
		Shape: `
    const got = [await B.who(), await (await B.fetch("http://x/y")).text(), await B.call((x) => x * 6)];
    using c = await B.counter();
    await c.add(2);
    got.push(await c.add(3), await B.counter().add(9));
    if (JSON.stringify(got) !== '["owner","admin /y",42,5,9]') throw new Error(JSON.stringify(got));`,
		Refused: map[string]string{
			`await B.fail()`:    "TypeError: no good",
			`await B.nothing()`: "does not implement the method",
		},
	})
}
