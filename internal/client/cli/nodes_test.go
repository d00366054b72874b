package cli

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// answer answers every request with one value.
func answer(t *testing.T, v any) http.HandlerFunc {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // a client that left
	}
}

// TestNodes: machines and pods with what they run; the column of nodes is for pods alone.
func TestNodes(t *testing.T) {
	t.Parallel()
	machine := api.Node{Name: "m1", ID: "a", Spares: 2, Versions: []string{"shop/v1", "shop/v2"}, RSSBytes: 80 << 20, AnsweredAt: api.At(time.Now())}
	pod := api.Node{Name: "host-x", ID: "b", Node: "node-a\x1b[2J", Versions: []string{}, Spares: 1, AnsweredAt: api.At(time.Now().Add(-time.Minute))}
	for name, tc := range map[string]struct {
		items []api.Node
		lines []string
	}{
		"machines": {[]api.Node{machine}, []string{`NAME +VERSIONS +SPARES +MEMORY +ANSWERED`, `m1 +shop/v1,shop/v2 +2 +80 MiB +\d+s ago`}},
		"pods": {[]api.Node{machine, pod}, []string{
			`NAME +NODE +VERSIONS +SPARES +MEMORY +ANSWERED`, `m1 +- +shop/v1,shop/v2 +2 +80 MiB +\d+s ago`, `host-x +node-a\[2J +- +1 +0 MiB +\d+m\d+s ago`,
		}},
		"none": {[]api.Node{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := against(t, answer(t, api.NodeList{Items: tc.items}), "nodes")
			if want := regexp.MustCompile(`^` + strings.Join(append(tc.lines, ""), "\n") + `$`); code != 0 || !want.MatchString(out) || (errOut != "") != (tc.lines == nil) {
				t.Errorf("exit %d, want %s: %s%s", code, want, out, errOut)
			}
		})
	}
}

// TestPlaceOfAVersion: a version names the machine or the pod that runs it.
func TestPlaceOfAVersion(t *testing.T) {
	t.Parallel()
	for runs, r := range map[string]api.Runtime{
		"serving":                             {State: api.RuntimeStateServing},
		"serving on m1":                       {State: api.RuntimeStateServing, Node: "m1"},
		"serving in the pod host-x on node-a": {State: api.RuntimeStateServing, Node: "host-x\x07", ClusterNode: "node-a"},
	} {
		v := api.Version{ID: "v1", ProjectID: "shop", Status: api.VersionStatusReady, Runtime: &r}
		if code, out, errOut := against(t, answer(t, v), "versions", "get", "shop/v1"); code != 0 || !strings.Contains(out, "\n  runtime  "+runs+"\n") {
			t.Errorf("exit %d, want %q: %s%s", code, runs, out, errOut)
		}
	}
}
