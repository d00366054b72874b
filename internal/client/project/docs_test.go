package project_test

import (
	"os"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
)

func TestGuideNamesEveryKey(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guide/project-file.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range project.Keys() {
		if !strings.Contains(string(guide), "`"+key+"`") {
			t.Errorf("docs/guide/project-file.md does not name %q", key)
		}
	}
}
