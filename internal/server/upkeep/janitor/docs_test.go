package janitor_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	makerPattern = regexp.MustCompile(`(?m)^func .* Task \{$`)
	taskPattern  = regexp.MustCompile(`(?ms)^func (\w+)\([^{]*\) Task \{$.*?Task\{Name: "([^"]+)"`)
)

// TestEveryTask: each task of the package is run by the daemon, called by a test, and
// described for readers of the code and for operators. docs/checklists/add-a-janitor.md.
func TestEveryTask(t *testing.T) {
	t.Parallel()
	code, tests := texts(t, "*.go"), texts(t, "*_test.go")
	doc, wiring, guide := texts(t, "doc.go"), texts(t, "../../daemon/janitor.go"), texts(t, "../../../../docs/guide/operating.md")
	tasks := taskPattern.FindAllStringSubmatch(code, -1)
	if made := len(makerPattern.FindAllString(code, -1)); len(tasks) != made || made == 0 {
		t.Fatalf("%d functions return a Task, the test finds %d", made, len(tasks))
	}
	for _, task := range tasks {
		function, name := task[1], task[2]
		for where, ok := range map[string]bool{
			"newJanitor of the daemon":             strings.Contains(wiring, "janitor."+function+"("),
			"the tests of the package":             strings.Contains(tests, "janitor."+function+"("),
			"doc.go":                               strings.Contains(doc, "["+function+"]"),
			"the tasks of docs/guide/operating.md": strings.Contains(guide, "\n| `"+name+"` |"),
		} {
			if !ok {
				t.Errorf("%s (%q) is not in %s", function, name, where)
			}
		}
	}
}

// texts is the text of the files that match a pattern.
func texts(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
