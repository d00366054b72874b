package foreign

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed words.tsv
var list string

// Row is a command line of another tool, and what to type instead.
type Row struct {
	Tool  string // the best-known tool that has it
	Words string // what is typed, with placeholders in upper case: "d1 execute DATABASE --remote"
	Alias bool   // Text is a command that runs in its place
	Text  string // of a hint: a sentence of Markdown with command lines in backticks
}

// All returns the rows in the order of the table.
func All() []Row { return slices.Clone(rows()) }

//nolint:gochecknoglobals // a constant table
var rows = sync.OnceValue(func() (all []Row) {
	for line := range strings.Lines(list) {
		if c := strings.Split(strings.TrimSpace(line), "\t"); len(c) == 4 && c[0] != "tool" {
			all = append(all, Row{c[0], c[1], c[2] == "alias", c[3]})
		}
	}
	return all
})

// Literals are the words of the command without placeholders and flags. "kv:key" is "kv key".
func (r Row) Literals() []string {
	return slices.DeleteFunc(r.words(), isPlaceholder)
}

// Flags are the names of the flags, without dashes.
func (r Row) Flags() (names []string) {
	for w := range strings.FieldsSeq(r.Words) {
		if name, ok := strings.CutPrefix(w, "--"); ok {
			names = append(names, name)
		}
	}
	return names
}

// words are literals and placeholders in their order.
func (r Row) words() (all []string) {
	for w := range strings.FieldsSeq(r.Words) {
		if !strings.HasPrefix(w, "--") {
			all = append(all, strings.Split(w, ":")...)
		}
	}
	return all
}

func isPlaceholder(word string) bool {
	return word == strings.ToUpper(word) && word != strings.ToLower(word)
}

var command = regexp.MustCompile("`(svcctl [^`]+)`")

// Commands are the command lines of svcctl that the row names.
func (r Row) Commands() (lines []string) {
	if r.Alias {
		return []string{"svcctl " + r.Text}
	}
	for _, found := range command.FindAllStringSubmatch(r.Text, -1) {
		lines = append(lines, found[1])
	}
	return lines
}
