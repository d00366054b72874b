package spectest

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// The pages of the specification, below the top of the repository.
const (
	ContractPage  = "docs/spec/contract.md"
	DecisionsPage = "docs/spec/decisions.md"
)

// A Clause is one numbered statement of the specification.
type Clause struct {
	ID   string // "C8.5" or "D19"
	Part string // the heading it stands under, such as "8. Promote"
	Text string // Markdown, in one line
}

var clauseStart = regexp.MustCompile(`^- \[(C\d+\.\d+|D\d+)\] (.+)$`)

// Clauses reads the clauses of a page, in their order. An error names a clause that
// is numbered twice.
func Clauses(top fs.FS, page string) ([]Clause, error) {
	text, err := fs.ReadFile(top, page)
	if err != nil {
		return nil, err
	}
	var all []Clause
	seen := map[string]bool{}
	part, open := "", false // open: the next line may continue the last clause
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		m := clauseStart.FindStringSubmatch(line)
		switch {
		case m != nil:
			if seen[m[1]] {
				return nil, fmt.Errorf("%s: clause %s is there twice", page, m[1])
			}
			seen[m[1]] = true
			all = append(all, Clause{ID: m[1], Part: part, Text: m[2]})
		case open && strings.HasPrefix(line, "  "):
			all[len(all)-1].Text += " " + strings.TrimSpace(line)
		case strings.HasPrefix(line, "## "):
			part = line[len("## "):]
		}
		open = m != nil || open && strings.HasPrefix(line, "  ")
	}
	return all, nil
}
