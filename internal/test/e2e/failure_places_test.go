//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestPlacesOfFailures: the record of a version that threw while it started names the place in the
// sources beside that in the bundle.
func TestPlacesOfFailures(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.jsonc": `{ "name": "thrower", "main": "src/index.ts", "compatibility_date": "2026-11-01" }`,
		"src/index.ts":   "const limit: number = 3;\n\nif (limit > 2) throw new Error(\"too many\");\nexport default { fetch(): Response { return new Response(\"\") } };\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, code := d.run(dir, "deploy", "--version", "v1", "--wait"); code == 0 {
		t.Fatal("the version is ready")
	}
	v, err := d.client().Version(t.Context(), "thrower", "v1")
	if err != nil || v.Status != api.VersionStatusFailed {
		t.Fatalf("%s, %v", v.Status, err)
	}
	if !strings.Contains(v.ErrorInSources+v.ErrorOutputInSources, "src/index.ts:3:") {
		t.Errorf("error %q, in sources %q; output %q, in sources %q", v.Error, v.ErrorInSources, v.ErrorOutput, v.ErrorOutputInSources)
	}
}
