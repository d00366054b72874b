package bundle_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
)

// TestKeep: three releases of a version that keeps files for two.
func TestKeep(t *testing.T) {
	t.Parallel()
	two := 2
	version := func(files string) bundle.Manifest {
		m := bundle.Manifest{Assets: &bundle.Assets{}, Release: &bundle.Release{AssetsKeep: &two}}
		for name := range strings.FieldsSeq(files) {
			m.Assets.Files = append(m.Assets.Files, bundle.File{Path: "assets/" + name, SHA256: name})
		}
		return m
	}
	names := func(k bundle.Kept) (out []string) {
		for _, f := range k.Files {
			out = append(out, f.SHA256+strings.Repeat("+", f.Releases))
		}
		return out
	}
	one, next := version("index.html app.css app-1f9a1c2b.js same-9f9a1c2b.js"), version("app-2f9a1c2b.js same-9f9a1c2b.js")
	kept := bundle.Keep(next, one, bundle.Kept{})
	if d := cmp.Diff([]string{"app-1f9a1c2b.js+"}, names(kept)); d != "" {
		t.Error(d)
	}
	third := version("app-3f9a1c2b.js")
	kept = bundle.Keep(third, next, kept)
	if d := cmp.Diff([]string{"app-2f9a1c2b.js+", "same-9f9a1c2b.js+", "app-1f9a1c2b.js++"}, names(kept)); d != "" {
		t.Error(d)
	}
	// What is of the version's own bundle again counts from there.
	again := bundle.Keep(version("app-1f9a1c2b.js"), third, kept)
	if d := cmp.Diff([]string{"app-3f9a1c2b.js+", "app-2f9a1c2b.js++", "same-9f9a1c2b.js++"}, names(again)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"app-3f9a1c2b.js++"}, names(bundle.Keep(version(""), version(""), again))); d != "" {
		t.Error(d)
	}
	none := version("")
	none.Release = nil
	if got := names(bundle.Keep(none, one, bundle.Kept{})); got != nil {
		t.Errorf("kept without the setting: %q", got)
	}
}
