package manifests_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/packaging/chart"
)

// ofHelm are the functions that the templates use and that are not text/template's own. All are Helm's
// or Sprig's; make test-chart compares what both make of them.
func ofHelm() []string {
	return []string{"default", "fromYaml", "include", "mergeOverwrite", "nindent", "quote", "required", "toYaml"}
}

// TestFunctions: the templates use these functions, all of them and no others.
func TestFunctions(t *testing.T) {
	t.Parallel()
	own := []string{"and", "define", "else", "end", "if", "not", "or", "printf", "range", "with"} // text/template
	used := map[string]bool{}
	action, word := regexp.MustCompile(`(?s)\{\{-?(.*?)-?\}\}`), regexp.MustCompile(`(?:^|[\s(|])([a-zA-Z][a-zA-Z0-9]*)`)
	quoted := regexp.MustCompile(`"[^"]*"`)
	err := fs.WalkDir(chart.Files, "svcctl/templates", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(chart.Files, path)
		for _, a := range action.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(strings.TrimSpace(a[1]), "/*") {
				continue
			}
			for _, w := range word.FindAllStringSubmatch(quoted.ReplaceAllString(a[1], "_"), -1) {
				used[w[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range used {
		if !slices.Contains(own, name) && !slices.Contains(ofHelm(), name) {
			t.Errorf("the templates use %s", name)
		}
	}
	for _, name := range ofHelm() {
		if !used[name] {
			t.Errorf("no template uses %s", name)
		}
	}
}
