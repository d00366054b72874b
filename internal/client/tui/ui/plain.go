package ui

import (
	"fmt"
	"regexp"
	"strings"
)

// plainRows is the number of rows of a page of a table for a screen reader.
const plainRows = 20

// plain writes each row as a line that names its columns. All columns are shown.
func (t *Table) plain(shown []Row, p Page) string {
	t.height = plainRows + 1 // a page of the keys f and b is as long
	at := t.position(shown)
	t.cursor = shown[at].ID
	first := at / plainRows * plainRows
	last := min(first+plainRows, len(shown))
	lines := []string{fmt.Sprintf("rows %d to %d of %d", first+1, last, len(shown))}
	for i, r := range shown[first:last] {
		lines = append(lines, t.plainRow(r, first+i, at))
	}
	return Lines(lines, p.W, p.H)
}

func (t *Table) plainRow(r Row, i, at int) string {
	var parts []string
	for n, c := range r.Cells {
		text := strings.TrimSpace(Spoken(c.Text))
		if text == "" || text == "-" {
			continue
		}
		name := strings.ToLower(t.Columns[n].Name)
		if n > 0 && name != "" && !strings.HasPrefix(text, name) {
			text = name + " " + text
		}
		parts = append(parts, text)
	}
	line := fmt.Sprintf("%d. %s", i+1, strings.Join(parts, ", "))
	if t.Marks[r.ID] {
		line += ", marked"
	}
	if i == at {
		line = "selected " + line
	}
	return line
}

// Select moves the cursor to a row of what is shown, from 1. It returns false for a number without a row.
func (t *Table) Select(n int, rows []Row) bool {
	shown := t.Shown(rows)
	if n < 1 || n > len(shown) {
		return false
	}
	t.at, t.cursor = n-1, shown[n-1].ID
	return true
}

// The signs that a screen draws, and the words for them. A sign beside its word has none.
//
//nolint:gochecknoglobals // constants
var (
	signs = strings.NewReplacer(
		"✗ failed", "failed", "✗", "failed", "✓", "done", "↩", "undone", "★ production", "production", "★", "production", "›", ">",
		"●", "", "○", "", "◌", "", "◐", "", "! crashed", "crashed", "- destroyed", "destroyed", "└─ ", "child ", "├─ ", "child ", "│", "", "─", "", "▌", "",
	)
	bars  = regexp.MustCompile("[▁▂▃▄▅▆▇█]+")
	space = regexp.MustCompile("  +")
)

// Spoken is a line as a screen reader says it: words for signs, nothing drawn.
func Spoken(line string) string {
	line = bars.ReplaceAllString(signs.Replace(line), "")
	return strings.TrimSpace(space.ReplaceAllString(line, "  "))
}
