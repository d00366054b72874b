package esbuild_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackageNotBuilt: a package that is installed and lacks its files is not to be installed.
func TestPackageNotBuilt(t *testing.T) {
	t.Parallel()
	const note = `The module "./dist/i.mjs" was not found on the file system`
	for name, test := range map[string]struct {
		manifest string
		imported string // "@x/y" if ""
		link     bool   // node_modules has a link to packages/y
		want     []string
		lacks    string
	}{
		"exports":           {`{"name": "@x/y", "exports": {".": "./dist/i.mjs"}}`, "", false, []string{note, "node_modules/@x/y/package.json:1:", "the package is installed in node_modules/@x/y, and lacks the file"}, "npm install"},
		"with a build":      {`{"name": "@x/y", "exports": {".": "./dist/i.mjs"}, "scripts": {"build": "tsc"}}`, "", false, []string{note, "is not built: run npm run build in node_modules/@x/y"}, "npm install"},
		"main":              {`{"name": "@x/y", "main": "dist/i.js", "scripts": {"build": "tsc"}}`, "", false, []string{"is not built: run npm run build in node_modules/@x/y"}, "npm install"},
		"of a workspace":    {`{"name": "@x/y", "main": "dist/i.js", "scripts": {"build": "tsc"}}`, "", true, []string{"is not built: run npm run build in packages/y"}, "npm install"},
		"a path without it": {`{"name": "@x/y", "exports": {".": "./package.json"}, "scripts": {"build": "tsc"}}`, "@x/y/z", false, []string{`"./z" is not exported by package "@x/y"`}, "npm "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			imported := test.imported
			if imported == "" {
				imported = "@x/y"
			}
			home := "node_modules/@x/y"
			if test.link {
				home = "packages/y"
			}
			req := project(t, files{"src/index.ts": `import y from "` + imported + `"; export default y`, home + "/package.json": test.manifest})
			if test.link {
				at := filepath.Join(req.Dir, "node_modules", "@x")
				if err := os.MkdirAll(at, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("../../packages/y", filepath.Join(at, "y")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := once(t.Context(), req)
			if err == nil {
				t.Fatal("it was built")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got\n%v\nwhich lacks\n%s", err, want)
				}
			}
			if strings.Contains(err.Error(), test.lacks) {
				t.Errorf("got\n%v\nwhich has %s", err, test.lacks)
			}
		})
	}
}
