package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/client/scaffold"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
)

// declarations are the least that a project file says of each key, with a binding B if
// bindings of the kind have names.
var declarations = map[string]string{
	"kv_namespaces":             `[{"binding": "B"}]`,
	"d1_databases":              `[{"binding": "B"}]`,
	"r2_buckets":                `[{"binding": "B"}]`,
	"workflows":                 `[{"binding": "B", "name": "w", "class_name": "W"}]`,
	"version_metadata":          `{"binding": "B"}`,
	"durable_objects":           `{"bindings": [{"name": "B", "class_name": "C"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["C"]}]`,
	"services":                  `[{"binding": "B", "service": "other"}]`,
	"triggers":                  `{"crons": ["* * * * *"]}`,
	"queues":                    `{"producers": [{"binding": "B", "queue": "q"}]}`,
	"ai":                        `{"binding": "B"}`,
	"analytics_engine_datasets": `[{"binding": "B"}]`,
	"ratelimits":                `[{"name": "B", "namespace_id": "1", "simple": {"limit": 1, "period": 10}}]`,
	"send_email":                `[{"name": "B"}]`,
	"hyperdrive":                `[{"binding": "B", "id": "h"}]`,
	"secrets_store_secrets":     `[{"binding": "B", "store_id": "s", "secret_name": "S"}]`,
}

// TestEveryKind: svcctl check says that bindings of each kind run, and svcctl types knows
// their type.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	for _, k := range kinds.All() {
		if k.Name == kinds.Missing {
			continue
		}
		text, ok := declarations[k.ConfigKey]
		if !ok {
			t.Errorf("the test has no declaration for %q", k.ConfigKey)
			continue
		}
		dir := t.TempDir()
		file := `{"name": "w", "main": "w.js", "compatibility_date": "2026-11-01", "` + k.ConfigKey + `": ` + text + `}`
		if err := os.WriteFile(filepath.Join(dir, "wrangler.json"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		f, _, err := project.Load(dir, project.Options{})
		if err != nil {
			t.Fatalf("%s: %v", k.ConfigKey, err)
		}
		if len(running(f)) == 0 {
			t.Errorf("svcctl check does not list %s", k.ConfigKey)
		}
		if _, line, found := strings.Cut(scaffold.Types([]*project.File{f}, nil), "\tB: "); strings.Contains(text, `"B"`) && (!found || line[0] == ';') {
			t.Errorf("svcctl types has no type for a binding of %s", k.ConfigKey)
		}
	}
}
