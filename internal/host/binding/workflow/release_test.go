package workflow_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/workflow"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestRelease: in the version that a release makes an instance continues, with the results of its
// steps, also one that ran at the cut. A version that declares no workflow counts it. A plain child of
// the released version has none.
func TestRelease(t *testing.T) {
	t.Parallel()
	dir, kinds := t.TempDir(), []binding.Kind{workflow.Kind{}}
	old := start(t, dir, counting)
	old.Post(t, "/create", "")
	svctest.Eventually(t, "the second step", func() bool {
		return old.text(t, `SELECT state || attempts FROM step WHERE name = 'two'`) == "running1"
	})
	plain, released := bindingtest.Fork(t, dir, "plain"), bindingtest.Release(t, dir, "released")
	old.Kill()
	unfinished := func(v volume.Volumes, want map[string]int) {
		t.Helper()
		set := bindingtest.OpenSet(t, v, kinds) // of a version without workflows
		if got, err := set.Unfinished(t.Context()); err != nil || !maps.Equal(got, want) {
			t.Errorf("unfinished: %v, %v; want %v", got, err, want)
		}
	}
	one := map[string]int{"flow": 1}
	unfinished(plain, nil)
	unfinished(released, one)

	v := startOn(t, released, counting)
	svctest.Eventually(t, "the wait", func() bool { return strings.Contains(v.Post(t, "/status", ""), "waiting") })
	if got := v.Post(t, "/ran", ""); got != "two 2" {
		t.Errorf("ran %q", got)
	}
	unfinished(released, one)
	v.Post(t, "/go", "")
	svctest.Eventually(t, "the end", func() bool { return strings.Contains(v.Post(t, "/status", ""), "complete") })
	if got := v.Post(t, "/status", ""); got != `{"status":"complete","output":[1,3,"went"]}` {
		t.Error(got)
	}
	unfinished(released, nil)
	if got, err := old.set.Unfinished(t.Context()); err != nil || !maps.Equal(got, one) {
		t.Errorf("the version before has %v, %v", got, err)
	}
}
