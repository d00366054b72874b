package database_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/binding/database"
	"github.com/svcctl/svcctl/internal/bundle"
)

func start(t *testing.T, dir string) *bindingtest.Worker {
	t.Helper()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, dir), []binding.Kind{database.Kind{}},
		bundle.Binding{Name: "DB", Kind: "database", Resource: "db"})
	return bindingtest.Start(t, set, bindingtest.Calls)
}

// sql reads calls from a file: on each line method, text and parameters.
func sql(t *testing.T, path string) (calls [][]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var c []any
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v: %s", path, err, line)
		}
		calls = append(calls, append([]any{"DB"}, c...))
	}
	return calls
}

// cleanMeta removes what says who served, how long it took, and counts that
// the engine of workerd keeps and ours does not.
func cleanMeta(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"served_by", "duration", "timings", "rows_read", "rows_written"} {
			delete(v, k)
		}
		for k, x := range v {
			v[k] = cleanMeta(x)
		}
	case []any:
		for i, x := range v {
			v[i] = cleanMeta(x)
		}
	}
	return v
}

func TestOracle(t *testing.T) {
	t.Parallel()
	ours := start(t, t.TempDir())
	oracle := bindingtest.StartOracle(t, bindingtest.Oracle{Databases: []string{"DB"}}, bindingtest.Calls)
	bindingtest.Compare(t, ours, oracle, cleanMeta, sql(t, "testdata/oracle.txt")...)
}
