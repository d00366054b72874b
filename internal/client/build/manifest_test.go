package build_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestCheckSaysWhatBundleSays: what a bundle refuses of a project file, a check refuses without a build.
func TestCheckSaysWhatBundleSays(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		`"vars": {}`: "",
		`"kv_namespaces": [{ "binding": "my-kv", "id": "x" }]`:                            "",
		`"vars": { "SVC_A": "1" }`:                                                        "SVC_",
		`"vars": { "A": "` + strings.Repeat("x", 8193) + `" }`:                            "8192",
		`"compatibility_flags": ["Node"]`:                                                 "compatibility flag",
		`"durable_objects": { "bindings": [{ "name": "A", "class_name": "my-class" }] }`:  "my-class",
		`"kv_namespaces": [{ "binding": "A", "id": "` + strings.Repeat("x", 129) + `" }]`: "128 bytes",
	} {
		dir := svctest.Files(t, map[string]string{"i.js": "export default {}; export class C {}", "wrangler.json": `{ "name": "shop", "main": "i.js", "compatibility_date": "2026-01-01", ` + keys + ` }`})
		f, _, err := project.Load(dir, project.Options{Unbuilt: true})
		if err == nil {
			err = build.Check(f)
		}
		r, bundled := build.Bundle(t.Context(), build.Request{Dir: dir, TempDir: t.TempDir()})
		if bundled == nil {
			r.Remove()
		}
		if (err == nil) != (want == "") || (err == nil) != (bundled == nil) || want != "" && !strings.Contains(err.Error()+bundled.Error(), want) {
			t.Errorf("%.60s: check says %v, a bundle %v", keys, err, bundled)
		}
	}
}
