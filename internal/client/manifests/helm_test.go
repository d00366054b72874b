//go:build helm

package manifests_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/internal/client/manifests"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const chartDir = "../../../packaging/chart/svcctl"

// helm runs the program of SVC_TEST_HELM.
func helm(t *testing.T, args ...string) (out string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv("SVC_TEST_HELM"), args...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

func file(t *testing.T, own string) string {
	t.Helper()
	return filepath.Join(svctest.Files(t, map[string]string{"values.yaml": own}), "values.yaml")
}

// TestHelmLint: Helm has nothing to say about the chart, and packs it.
func TestHelmLint(t *testing.T) {
	for _, own := range []string{needed, everything} {
		out, ok := helm(t, "lint", "--strict", chartDir, "--kube-version", "1.36.0", "-f", file(t, own))
		if !ok || strings.Contains(out, "[WARNING]") {
			t.Errorf("%s", out)
		}
	}
	if out, ok := helm(t, "package", chartDir, "-d", t.TempDir(), "--version", "1.2.3", "--app-version", "v1.2.3"); !ok {
		t.Errorf("%s", out)
	}
}

// TestHelmTemplate: Helm makes the same objects.
func TestHelmTemplate(t *testing.T) {
	for name, own := range map[string]string{
		"needed": needed, "everything": everything, "trial": "host: a.example\nsecrets: {existing: x}\ntrialStore: {enabled: true}\n",
		"off":   needed + "networkPolicy: {enabled: false}\nmonitoring: {annotations: false}\n",
		"empty": needed + "networkPolicy: {clusterRanges: [], dns: [], metrics: []}\nhosts: {spares: 0, podTemplate: {spec: {enableServiceLinks: null, terminationGracePeriodSeconds: 0, schedulerName: \"\"}}}\n",
	} {
		out, ok := helm(t, "template", "svcctl", chartDir, "--kube-version", "1.36.0", "-n", "svcctl", "-f", file(t, own))
		if !ok {
			t.Errorf("%s: %s", name, out)
			continue
		}
		list, err := manifests.Render(manifests.Release{Namespace: "svcctl", Version: "latest", Values: values(t, own)})
		if err != nil {
			t.Fatal(err)
		}
		ours := map[string]any{}
		for _, o := range list {
			ours[o.Kind+" "+o.Name] = o.Fields
		}
		if diff := cmp.Diff(ofHelmTemplate(t, out), ours); diff != "" {
			t.Errorf("%s: Helm -, svcctl +:\n%s", name, diff)
		}
		t.Logf("%s: %d objects", name, len(ours))
	}
}

// ofHelmTemplate are the objects of helm template, which names itself as the manager.
func ofHelmTemplate(t *testing.T, out string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for part := range strings.SplitSeq("\n"+strings.ReplaceAll(out, "managed-by: Helm\n", "managed-by: svcctl\n"), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(part), &o); err != nil {
			t.Fatalf("%v\n%s", err, part)
		}
		if o != nil {
			metadata, _ := o["metadata"].(map[string]any)
			all[fmt.Sprint(o["kind"], " ", metadata["name"])] = o
		}
	}
	return all
}

// TestHelmRefuses: Helm refuses the values that svcctl refuses.
func TestHelmRefuses(t *testing.T) {
	for own, want := range wrongValues() {
		out, ok := helm(t, "template", "svcctl", chartDir, "--kube-version", "1.36.0", "-n", "svcctl", "-f", file(t, own))
		name, _, _ := strings.Cut(want, ":")
		name = name[strings.LastIndex(name, ".")+1:]
		if strings.Contains(want, "is not set") {
			name = "is not set" // Helm renders the files in no order
		}
		if ok || !strings.Contains(out, name) {
			t.Errorf("%s: Helm says %s, svcctl %s", own, out, want)
		}
	}
}
