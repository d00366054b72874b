package spectest_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/test/spectest"
)

// TestCitations fails for a citation of a clause that does not exist, and for the
// word "spec:" without a citation.
func TestCitations(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, page := range []string{spectest.ContractPage, spectest.DecisionsPage} {
		for _, c := range clauses(t, repository(), page) {
			known[c.ID] = true
		}
	}
	for _, c := range citations(t, repository()) {
		switch {
		case c.ID == "":
			t.Errorf("%s:%d: \"spec:\" is followed by no clause, such as [C8.5]", c.File, c.Line)
		case !known[c.ID]:
			t.Errorf("%s:%d: [%s] is no clause and no decision of docs/spec", c.File, c.Line, c.ID)
		}
	}
}

// TestTestsAreNamed fails for a "spec:" in a test file outside of a function: the
// page of coverage could not name the test.
func TestTestsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range citations(t, repository()) {
		if c.InTest() && c.Func == "" && strings.HasSuffix(c.File, ".go") {
			t.Errorf("%s:%d: [%s] stands in no function", c.File, c.Line, c.ID)
		}
	}
}

// TestPublicDocumentation fails for a citation where a user of the SDK, the API or
// the programs would read it.
func TestPublicDocumentation(t *testing.T) {
	t.Parallel()
	for _, c := range citations(t, repository()) {
		if public(c.File) {
			t.Errorf("%s:%d: public documentation cites [%s]", c.File, c.Line, c.ID)
		}
	}
}

func public(file string) bool {
	if strings.HasSuffix(file, "_test.go") || file == "docs/reference/contract-coverage.md" {
		return false
	}
	places := []string{"pkg/", "docs/guide/", "docs/reference/", "docs/man/", "examples/", "README.md", "CHANGELOG.md", "SECURITY.md"}
	return slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(file, place) })
}

// TestNumbers fails for a clause under another part's heading, and for numbers out
// of order.
func TestNumbers(t *testing.T) {
	t.Parallel()
	last := map[string]int{}
	for _, c := range clauses(t, repository(), spectest.ContractPage) {
		part, _, _ := strings.Cut(c.Part, ".")
		var number int
		if _, err := fmt.Sscanf(c.ID, "C"+part+".%d", &number); err != nil {
			t.Errorf("[%s] stands in part %q", c.ID, c.Part)
		}
		if number <= last[part] {
			t.Errorf("[%s] stands after number %d", c.ID, last[part])
		}
		last[part] = number
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	top := fstest.MapFS{
		"page.md":      {Data: []byte("## 1. One\n\n- [C1.1] A\n  b.\n- [C1.2] C.\n\n  no part of it\n")},
		"a/a.go":       {Data: []byte("package a\n\n// A [D1]\n// spec: [C1.1],\n// [C1.2].\nfunc A() { _ = `[D2]` } // spec: nothing\n")},
		"a/a.txtar":    {Data: []byte("exec a\n# spec: [C1.2]\n")},
		"a/spec.yaml":  {Data: []byte("spec: a\n")},
		".git/a.md":    {Data: []byte("[D3]")},
		"a/atest/a.go": {Data: []byte("package atest\n")},
	}
	wantClauses := []spectest.Clause{{ID: "C1.1", Part: "1. One", Text: "A b."}, {ID: "C1.2", Part: "1. One", Text: "C."}}
	if diff := cmp.Diff(wantClauses, clauses(t, top, "page.md")); diff != "" {
		t.Errorf("clauses (-want +got):\n%s", diff)
	}
	want := []spectest.Citation{
		{ID: "D1", File: "a/a.go", Line: 3, Func: "A"},
		{ID: "C1.1", File: "a/a.go", Line: 4, Func: "A", Spec: true},
		{ID: "C1.2", File: "a/a.go", Line: 5, Func: "A", Spec: true},
		{File: "a/a.go", Line: 6},
		{ID: "C1.2", File: "a/a.txtar", Line: 2, Spec: true},
		{ID: "C1.1", File: "page.md", Line: 3},
		{ID: "C1.2", File: "page.md", Line: 5},
	}
	if diff := cmp.Diff(want, citations(t, top)); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
}

func repository() fs.FS { return os.DirFS("../../..") }

func clauses(t *testing.T, top fs.FS, page string) []spectest.Clause {
	t.Helper()
	all, err := spectest.Clauses(top, page)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func citations(t *testing.T, top fs.FS) []spectest.Citation {
	t.Helper()
	all, err := spectest.Citations(top)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
