//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const outputConfig = `{"name": "out", "compatibilityDate": "2026-11-01", "env": {"V": {"type": "text", "value": "VALUE"}}, "manifest": {"type": "complete", "mainModule": "index.js", "modules": {"index.js": {"type": "esm"}, "CHUNK": {"type": "esm"}}}}`

// built writes a Build Output as a tool does, which deletes the one before first.
func (d *developer) built(value, chunk string) {
	d.t.Helper()
	const out = ".cloudflare/output/v1/"
	if err := os.RemoveAll(filepath.Join(d.dir, ".cloudflare/output")); err != nil {
		d.t.Fatal(err)
	}
	d.write(out+"workers/default/bundle/"+chunk, `export const text = "`+value+`";`)
	d.write(out+"workers/default/worker.config.json", strings.NewReplacer("VALUE", value, "CHUNK", chunk).Replace(outputConfig))
	d.write(out+"workers/default/bundle/index.js", `import { text } from "./`+chunk+`"; export default { fetch: (r, env) => new Response(text + " " + env.V) };`)
	d.write(out+"config.json", `{"buildContext": {"isPreview": false}}`)
}

// TestDevOfBuildOutput: watch mode makes a save of each build, whose chunks have other names.
func TestDevOfBuildOutput(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{"package.json": `{"scripts": {"build": "vite build"}}`, "vite.config.ts": "", "cloudflare.config.ts": `export default {};`})
	d.built("one", "chunk-a.js")
	d.start()
	d.await(`save 1 `)
	d.expect("/", "one one")
	d.built("two", "chunk-b.js")
	d.await(`save 2 `)
	d.expect("/", "two two")
}

// TestDevOfTypedConfig: watch mode evaluates cloudflare.config.ts again when it or a file that it imports changes.
func TestDevOfTypedConfig(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"cloudflare.config.ts": `import { value } from "./config/value"; import { bindings, defineConfig } from "cf/config";
export default defineConfig(({ mode }) => ({ worker: { name: "typed", entrypoint: "./src/i.ts", compatibilityDate: "2026-11-01", env: { V: bindings.text(mode + " " + value) } } }));`,
		"config/value.ts": `export const value: string = "one";`,
		"src/i.ts":        `export default { fetch: (r: Request, env: { V: string }) => new Response(env.V) };`,
	})
	d.start("--mode", "blue")
	d.await(`save 1 `)
	d.expect("/", "blue one")
	d.write("config/value.ts", `export const value: string = "two";`)
	d.await(`save 2 `)
	d.expect("/", "blue two")
	d.write("config/value.ts", `throw new Error("on purpose");`)
	d.await(`config/value.ts:1:7: on purpose`)
	d.expect("/", "blue two")
	d.write("config/value.ts", `export const value: string = "three";`)
	d.await(`save 3 `)
	d.expect("/", "blue three")
}
