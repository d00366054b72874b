package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/test/spectest"
)

const coverageHead = `# Contract coverage
` + notice + `
Each clause of the [contract](../spec/contract.md) with the tests that cite it. A test cites a clause by a comment,
` + "`// spec: [C8.5]`" + `, when it fails if the clause is broken. Tests cite %d of %d clauses.

## Clauses without a test

`

// addCoverage writes the page of the contract's clauses and the tests that cite
// them. src is the top of the repository.
func addCoverage(src fs.FS, out files) error {
	clauses, err := spectest.Clauses(src, spectest.ContractPage)
	if err != nil {
		return err
	}
	citations, err := spectest.Citations(src)
	if err != nil {
		return err
	}
	tests := map[string][]string{}
	for _, c := range citations {
		if line := test(c); c.InTest() && !slices.Contains(tests[c.ID], line) {
			tests[c.ID] = append(tests[c.ID], line)
		}
	}
	out["docs/reference/contract-coverage.md"] = coverage(clauses, tests)
	return nil
}

// coverage is the page; tests maps a clause to the lines about its tests.
func coverage(clauses []spectest.Clause, tests map[string][]string) []byte {
	var covered, missing bytes.Buffer
	part, cited := "", 0
	for _, c := range clauses {
		line := fmt.Sprintf("- **%s** %s\n", c.ID, c.Text)
		if len(tests[c.ID]) == 0 {
			missing.WriteString(line)
			continue
		}
		cited++
		if c.Part != part {
			part = c.Part
			fmt.Fprintf(&covered, "\n## %s\n\n", part)
		}
		covered.WriteString(line)
		for _, test := range tests[c.ID] {
			fmt.Fprintf(&covered, "  - %s\n", test)
		}
	}
	return fmt.Appendf(nil, coverageHead+"%s%s", cited, len(clauses), &missing, &covered)
}

// test names the function and the file of a citation.
func test(c spectest.Citation) string {
	link := fmt.Sprintf("[%s](../../%s)", strings.TrimPrefix(c.File, "internal/"), c.File)
	if path.Ext(c.File) == ".txtar" {
		return "script " + link
	}
	return fmt.Sprintf("`%s` in %s", c.Func, link)
}
