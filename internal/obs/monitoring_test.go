package obs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/obs"
)

var (
	usedMetric = regexp.MustCompile(`\b(svc_[a-z0-9_]+)(\{[^}]*\})?`)
	usedLabel  = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)\\?"`)
	grouped    = regexp.MustCompile(`by \(([a-z, ]+)\)`)
	shown      = regexp.MustCompile(`\{\{ ?\$?(?:labels\.)?([a-z]+) ?\}\}`)
)

// The files of docs/monitoring use metrics and labels that the program has.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	known := map[string][]string{}
	labels := []string{"le", "value"}
	for _, d := range obs.Describe() {
		known[d.Name] = d.Labels
		labels = append(labels, d.Labels...)
	}
	for _, name := range []string{"grafana.json", "alerts.yaml"} {
		text, err := os.ReadFile("../../docs/monitoring/" + name)
		if err != nil {
			t.Fatal(err)
		}
		used := usedMetric.FindAllStringSubmatch(string(text), -1)
		if len(used) < 10 {
			t.Errorf("%s uses %d metrics: the pattern does not find them", name, len(used))
		}
		for _, m := range used {
			has, ok := known[strings.TrimSuffix(m[1], "_bucket")]
			if !ok {
				t.Errorf("%s uses %s, which does not exist", name, m[1])
			}
			for _, l := range usedLabel.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(has, l[1]) {
					t.Errorf("%s: %s has no label %s", name, m[1], l[1])
				}
			}
		}
		for _, l := range append(grouped.FindAllStringSubmatch(string(text), -1), shown.FindAllStringSubmatch(string(text), -1)...) {
			for label := range strings.SplitSeq(l[1], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("%s: no metric has a label %s", name, label)
				}
			}
		}
	}
}
