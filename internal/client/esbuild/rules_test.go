package esbuild_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/client/esbuild"
)

func TestGlobs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		glob, path    string
		imports, file bool
	}{
		{"**/*.txt", "a.txt", false, true},
		{"**/*.txt", "./a.txt", true, true},
		{"**/*.txt", "a/b/c.txt", true, true},
		{"**/*.txt", "a/b/c.txt.js", false, false},
		{"*.md", "a.md", true, true},
		{"*.md", "dir/a.md", true, false},
		{"**/*.wasm?module", "./a.wasm?module", true, true},
		{"**/*.wasm", "./a.wasm?module", false, false},
		{"texts/**", "texts/a/b.js", true, true},
		{"texts/**/*.js", "texts/b.js", false, true},
		{"a/*/c", "a/b/c", true, true},
		{"a/*/c", "a/b/b/c", true, false},
		{"größe/*.txt", "größe/ä.txt", true, true},
		{"(a|b)+.txt", "(a|b)+.txt", true, true},
		{"(a|b)+.txt", "a.txt", false, false},
	} {
		if got := esbuild.GlobMatch(test.glob, test.path, false); got != test.imports {
			t.Errorf("import %q against %q: %v", test.path, test.glob, got)
		}
		if got := esbuild.GlobMatch(test.glob, test.path, true); got != test.file {
			t.Errorf("file %q against %q: %v", test.path, test.glob, got)
		}
	}
}
