package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// change is a file of changelog/unreleased: the kind, and what a user reads.
var change = regexp.MustCompile(`\A(Added|Changed|Deprecated|Removed|Fixed|Security): [A-Z` + "`" + `\[*][^\n]*(\n[^\n]+)*\.\n\z`)

// TestUnreleased fails for a change that scripts/release-notes could not put into CHANGELOG.md.
func TestUnreleased(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../changelog/unreleased/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no directory changelog/unreleased", err)
	}
	for _, name := range files {
		if filepath.Base(name) == "README.md" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil || filepath.Ext(name) != ".md" || !change.Match(text) {
			t.Errorf("%s: want NAME.md with one paragraph such as \"Fixed: What no longer fails.\" (changelog/unreleased/README.md); %v", name, err)
		}
	}
}
