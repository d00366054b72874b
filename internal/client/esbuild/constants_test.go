package esbuild_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConstants: a worker that exports constants starts, as on Cloudflare; workerd alone
// refuses it. Its handlers and classes stay exported.
func TestConstants(t *testing.T) {
	t.Parallel()
	for _, minify := range []bool{false, true} {
		req := project(t, files{
			"src/index.ts": `import { env } from "cloudflare:workers"; import { LIMIT } from "./limit";
			export { LIMIT }; export const VERSION = "1.0.0", NONE = null; export const on = true; export let least: number = -1;
			export const name = ` + "`v${VERSION}`" + `; export type Row = { id: number };
			export class Room { x = env; }
			export function helper() { return VERSION; }
			export const settings = { a: 1 };
			export default { fetch: () => Response.json({ VERSION, LIMIT, name, on, NONE, least, helper: helper() }) };`,
			"src/limit.ts": `export const LIMIT = 60 * 1000;`,
		})
		req.Minify, req.KeepNames = minify, !minify
		r := build(t, req)
		want := map[string]any{"VERSION": "1.0.0", "LIMIT": 60000.0, "name": "v1.0.0", "on": true, "NONE": nil, "least": -1.0, "helper": "1.0.0"}
		if diff := cmp.Diff(want, answer(t, req, r)); diff != "" {
			t.Errorf("minify %v: %s", minify, diff)
		}
		main := string(r.Modules[0].Content)
		list := main[strings.LastIndex(main, "export"):]
		var exported []string
		for _, name := range []string{"Room", "helper", "settings", "default", "VERSION", "LIMIT", "least", "on,", "NONE"} {
			if strings.Contains(list, name) {
				exported = append(exported, name)
			}
		}
		if !slices.Equal(exported, []string{"Room", "helper", "settings", "default"}) {
			t.Errorf("minify %v: %s", minify, list)
		}
	}
}
