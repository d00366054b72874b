package workflow_test

import (
	_ "embed"
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

//go:embed testdata/cases.js
var cases string

// TestOracle compares what a worker sees with workerd's simulator.
func TestOracle(t *testing.T) {
	t.Parallel()
	ours := start(t, t.TempDir(), cases)
	theirs := bindingtest.StartOracle(t, bindingtest.Oracle{Workflows: map[string]string{"B": "Flow"}}, cases)
	var names []string
	if err := json.Unmarshal([]byte(ours.Post(t, "/", "")), &names); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if got, want := ours.Post(t, "/"+name, ""), theirs.Post(t, "/"+name, ""); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}
