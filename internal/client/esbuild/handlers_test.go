package esbuild_test

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/client/esbuild"
)

// TestHandlers: the handlers of a built worker are known if its default export is a plain object.
func TestHandlers(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		`export default { async scheduled(c, env) { if (env) { await env.fetch(c) } } }`:                                    {"scheduled"},
		"export default {\n  queue: (batch) => {\n  batch.ackAll();\n  },\n  async email(m) {}, other: 1 }":                 {"queue", "email"},
		`const fetch = () => new Response(""); export default { fetch, scheduled() {} }`:                                    {"fetch", "scheduled"},
		`export default { fetch: (request) => new Response(request.url), }; export class C {}`:                              {"fetch"},
		`const w: ExportedHandler = { async *tail() {}, fetch: undefined as any }; export default w`:                        {"tail", "fetch"},
		"export default { scheduled() { const t = `a ${\"}\" + `${1}`} }, fetch`; return t + '}, fetch() {' }, tail() {} }": {"scheduled", "tail"},
		"export default { fetch, ...{} }; function fetch() {}":                                                              nil,
		"export default { scheduled() { return /}, fetch/ } }":                                                              nil,
		"export default { scheduled() { return 4 / 2 / 1 } }":                                                               {"scheduled"},
		"export default {}": {},
		`const more = { fetch: () => 1 }; export default { ...more, scheduled() {} }`: nil,
		`const name = "fetch"; export default { [name]: () => 1 }`:                    nil,
		`export default class { fetch() {} }`:                                         nil,
		`class App { fetch() {} } export default new App()`:                           nil,
	} {
		r := build(t, project(t, files{"src/index.ts": code}))
		got, known := esbuild.Handlers(r.Modules[0].Content)
		if known != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; built:\n%s", code, got, known, r.Modules[0].Content)
		}
	}
}
