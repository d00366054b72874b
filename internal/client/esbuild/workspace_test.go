package esbuild_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// workspace is a repository with a worker in apps/api, which uses the package @acme/greet of
// packages/greet (TypeScript, not built) and, through it, the installed package words.
func workspace() files {
	return files{
		"apps/api/package.json":       `{"name": "api", "dependencies": {"@acme/greet": "workspace:*"}}`,
		"apps/api/tsconfig.json":      `{"extends": "../../tsconfig.base.json", "compilerOptions": {"noEmit": true}}`,
		"apps/api/src/index.ts":       `import { greet } from "@acme/greet"; import { twice } from "@acme/greet/twice"; export default { fetch: () => new Response(twice(greet())) };`,
		"packages/greet/package.json": `{"name": "@acme/greet", "exports": {".": "./src/index.ts", "./twice": {"types": "./twice.d.ts", "default": "./src/twice.ts"}}, "dependencies": {"words": "1"}}`,
		"packages/greet/src/index.ts": `import { word } from "words"; export const greet = (): string => word + " of greet";`,
		"packages/greet/src/twice.ts": `export const twice = (s: string): string => s + s;`,
		"tsconfig.base.json":          `{"compilerOptions": {"strict": true}}`,
	}
}

const words = `export const word = "installed";`

// TestWorkspaces: the packages of a repository are found where each package manager links
// them, and where tsconfig's paths lead.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ files, links files }{
		"npm": {
			files{"package.json": `{"workspaces": ["apps/*", "packages/*"]}`, "node_modules/words/package.json": `{"module": "w.js"}`, "node_modules/words/w.js": words},
			files{"node_modules/@acme/greet": "../../packages/greet", "node_modules/api": "../apps/api"},
		},
		"yarn": {
			files{
				"package.json": `{"workspaces": {"packages": ["apps/*", "packages/*"]}}`, ".yarnrc.yml": "nodeLinker: node-modules\n",
				"packages/greet/node_modules/words/package.json": `{"main": "w.js"}`, "packages/greet/node_modules/words/w.js": words,
			},
			files{"node_modules/@acme/greet": "../../packages/greet"},
		},
		"pnpm": {
			files{
				"pnpm-workspace.yaml": "packages: ['apps/*', 'packages/*']\n",
				"node_modules/.pnpm/words@1.0.0/node_modules/words/package.json": `{"exports": "./w.js"}`, "node_modules/.pnpm/words@1.0.0/node_modules/words/w.js": words,
			},
			files{
				"apps/api/node_modules/@acme/greet": "../../../../packages/greet",
				"packages/greet/node_modules/words": "../../../node_modules/.pnpm/words@1.0.0/node_modules/words",
			},
		},
		"bun": {
			files{
				"package.json": `{"workspaces": ["apps/*", "packages/*"]}`, "bun.lock": "{}",
				"node_modules/.bun/words@1.0.0/node_modules/words/package.json": `{"main": "w.js"}`, "node_modules/.bun/words@1.0.0/node_modules/words/w.js": words,
			},
			files{
				"apps/api/node_modules/@acme/greet": "../../../../packages/greet",
				"packages/greet/node_modules/words": "../../../node_modules/.bun/words@1.0.0/node_modules/words",
			},
		},
		"tsconfig paths": {
			files{
				"tsconfig.base.json":              `{"compilerOptions": {"paths": {"@acme/greet": ["./packages/greet/src/index.ts"], "@acme/*/twice": ["./packages/*/src/twice.ts"]}}}`,
				"node_modules/words/package.json": `{"main": "w.js"}`, "node_modules/words/w.js": words,
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := workspace()
			maps.Copy(all, test.files)
			req := project(t, all)
			root := req.Dir
			for link, target := range test.links {
				path := filepath.Join(root, filepath.FromSlash(link))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, path); err != nil {
					t.Fatal(err)
				}
			}
			req.Dir = filepath.Join(root, "apps", "api")
			req.Entry = filepath.Join(req.Dir, "src", "index.ts")
			text := string(build(t, req).Modules[0].Content)
			for _, want := range []string{`"installed"`, `" of greet"`, "twice"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s is not in the bundle:\n%s", want, text)
				}
			}
		})
	}
}
