package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// known is the table of known differences.
type known struct {
	rows []*row
}

// row says that calls may differ in some things.
type row struct {
	calls []string // patterns of names; "*" is all
	what  []string
	text  string
	used  bool
}

// readKnown reads the rows whose first two columns are lists of code: calls, and what of
// their answers differs.
func readKnown(file string) (*known, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	k := &known{}
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `") || len(columns) < 5 {
			continue
		}
		k.rows = append(k.rows, &row{calls: codes(columns[0]), what: codes(columns[1]), text: columns[0] + columns[1]})
	}
	if len(k.rows) == 0 {
		return nil, fmt.Errorf("%s has no table of differences", file)
	}
	return k, nil
}

// codes returns the parts of a column that are code.
func codes(column string) (list []string) {
	for i, part := range strings.Split(column, "`") {
		if i%2 == 1 {
			list = append(list, part)
		}
	}
	return list
}

// has reports whether a difference is known, and notes that its rows are needed.
func (k *known) has(name, what string) (found bool) {
	for _, r := range k.rows {
		if slices.Contains(r.what, what) && slices.ContainsFunc(r.calls, func(pattern string) bool { return matches(pattern, name) }) {
			r.used, found = true, true
		}
	}
	return found
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok || pattern == "*"
}

// unused are the rows that nothing needed.
func (k *known) unused() (list []string) {
	for _, r := range k.rows {
		if !r.used {
			list = append(list, strings.TrimSpace(r.text))
		}
	}
	return list
}
