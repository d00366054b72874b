package all_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestRegistry: the kinds that run are those that the client knows, in the same
// order, and they take the seeds that the client bundles.
func TestRegistry(t *testing.T) {
	t.Parallel()
	known := kinds.All()
	if len(known) != len(all.Kinds()) {
		t.Fatalf("%d kinds run, %d are known", len(all.Kinds()), len(known))
	}
	volumes := bindingtest.OpenVolumes(t, t.TempDir())
	for i, k := range all.Kinds() {
		if k.Name() != known[i].Name || known[i].ConfigKey == "" {
			t.Errorf("kind %d is %q, known as %+v", i, k.Name(), known[i])
		}
		in, err := k.Open(t.Context(), bundle.Binding{Name: "B", Kind: k.Name(), Resource: "r-1"}, volumes)
		if err != nil {
			t.Fatal(err)
		}
		if _, seeds := in.(binding.Seeder); seeds != known[i].Seeds.Any() {
			t.Errorf("%s: a Seeder: %t, seeds in the client: %+v", k.Name(), seeds, known[i].Seeds)
		}
		if in != nil {
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, ok := kinds.Named("none"); ok {
		t.Error("an unknown kind is known")
	}
}

// TestDocuments: each operation on data is in the document of the API, and each kind in
// the guide and in the description of the bundle format.
func TestDocuments(t *testing.T) {
	t.Parallel()
	document := string(api.OpenAPI())
	for _, pattern := range binding.Patterns(all.Kinds()) {
		_, path, _ := strings.Cut(pattern, " ")
		path = `"/projects/{project}/versions/{version}` + strings.ReplaceAll(path, "...}", "}") + `"`
		if !strings.Contains(document, path) {
			t.Errorf("%s: openapi.yaml has no path %s", pattern, path)
		}
	}
	for _, file := range []string{"docs/guide/project-file.md", "docs/design/bundle-format.md"} {
		text, err := os.ReadFile(filepath.Join("../../../..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kinds.All() {
			if !slices.ContainsFunc([]string{k.Name, k.ConfigKey}, func(s string) bool { return strings.Contains(string(text), "`"+s+"`") }) {
				t.Errorf("%s does not name %s", file, k.Name)
			}
		}
	}
}
