package database_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
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

// without removes members from all objects in v.
func without(members ...string) func(any) any {
	var clean func(any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range members {
				delete(v, k)
			}
			for k, x := range v {
				v[k] = clean(x)
			}
		case []any:
			for i, x := range v {
				v[i] = clean(x)
			}
		}
		return v
	}
	return clean
}

// The answers of this program are those of workerd's own D1.
func TestOracle(t *testing.T) {
	t.Parallel()
	for path, clean := range map[string]func(any) any{
		"testdata/oracle.txt":  without("served_by", "duration", "timings", "rows_read", "rows_written"),
		"testdata/counts.txt":  without("served_by", "duration", "timings"),
		"testdata/limited.txt": without("served_by", "duration", "timings", "rows_read", "rows_written"),
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			ours := start(t, t.TempDir())
			oracle := bindingtest.StartOracle(t, bindingtest.Oracle{Databases: []string{"DB"}}, bindingtest.Calls)
			bindingtest.Compare(t, ours, oracle, clean, sql(t, path)...)
		})
	}
}
