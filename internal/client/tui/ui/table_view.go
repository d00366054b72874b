package ui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// View draws the head and as many rows as the page has room for. empty is shown instead
// of rows.
func (t *Table) View(rows []Row, p Page, empty string) string {
	shown := t.Shown(rows)
	if p.Plain && len(shown) > 0 {
		return t.plain(shown, p)
	}
	t.height = max(p.H-1, 1)
	widths := t.widths(p.W, shown)
	lines := []string{p.Head.Render(t.head(widths, p.W))}
	if len(shown) == 0 {
		if t.filter != "" && len(rows) > 0 {
			empty = "nothing matches the filter; esc removes it"
		}
		return Lines(append(lines, p.Dim.Render("  "+empty)), p.W, p.H)
	}
	at := t.position(shown)
	t.cursor = shown[at].ID
	t.offset = min(max(t.offset, at-t.height+1), at)
	t.offset = max(min(t.offset, len(shown)-t.height), 0)
	for i, r := range shown[t.offset:min(t.offset+t.height, len(shown))] {
		lines = append(lines, t.row(r, t.offset+i == at, widths, p))
	}
	return Lines(lines, p.W, p.H)
}

// widths returns the width of each column; 0 for those that are dropped.
func (t *Table) widths(w int, rows []Row) []int {
	widths := make([]int, len(t.Columns))
	total := 1
	for i, c := range t.Columns {
		if c.Rare && !some(i, rows) {
			continue
		}
		widths[i] = c.Width
		total += c.Width + 1
	}
	for total > w {
		drop := -1
		for i, c := range t.Columns {
			if widths[i] > 0 && c.Drop > 0 && (drop < 0 || c.Drop > t.Columns[drop].Drop) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		total -= widths[drop] + 1
		widths[drop] = 0
	}
	t.stretch(widths, t.fill(widths, w-total, rows))
	return widths
}

// some reports whether a row has a text in a column; "-" is none.
func some(column int, rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Cells[column].Text != "" && r.Cells[column].Text != "-" })
}

// longest is the width of the longest text of a column.
func longest(column int, rows []Row) (w int) {
	for _, r := range rows {
		w = max(w, Width(r.Cells[column].Text))
	}
	return w
}

// fill gives the columns of Flex what their texts need, the last column first, and returns what is left.
func (t *Table) fill(widths []int, left int, rows []Row) int {
	for i, c := range slices.Backward(t.Columns) {
		if !c.Flex || widths[i] == 0 {
			continue
		}
		part := min(max(longest(i, rows)-widths[i], 0), max(left, 0))
		widths[i] += part
		left -= part
	}
	return left
}

// stretch gives the columns that are left to those that take them, in equal parts.
func (t *Table) stretch(widths []int, left int) {
	flexible := 0
	for i, c := range t.Columns {
		if c.Flex && widths[i] > 0 {
			flexible++
		}
	}
	for i, c := range t.Columns {
		if c.Flex && widths[i] > 0 && left > 0 {
			part := left / flexible
			widths[i] += part
			left, flexible = left-part, flexible-1
		}
	}
}

func (t *Table) head(widths []int, w int) string {
	var b strings.Builder
	b.WriteString(" ")
	for i, c := range t.Columns {
		name := c.Name
		if t.sort == i+1 {
			name += map[bool]string{false: "↑", true: "↓"}[t.desc]
		}
		b.WriteString(align(name, widths[i], c.Right))
	}
	return Fit(b.String(), w)
}

func (t *Table) row(r Row, cursor bool, widths []int, p Page) string {
	mark := " "
	if t.Marks[r.ID] {
		mark = "▌"
	}
	var b strings.Builder
	b.WriteString(mark)
	for i, c := range t.Columns {
		text := r.Cells[i].Text
		if r.Cells[i].Tail {
			text = ending(text, widths[i])
		}
		text = align(text, widths[i], c.Right)
		if !cursor && r.Cells[i].Style != nil {
			text = r.Cells[i].Style.Render(text)
		}
		if widths[i] > 0 {
			b.WriteString(text)
		}
	}
	if !cursor {
		return b.String()
	}
	line := Fit(b.String(), p.W)
	if mark == " " {
		line = ">" + line[1:] // also without colors
	}
	return p.Cursor.Render(line)
}

// ending returns the end of a text that fits into a column.
func ending(s string, w int) string { return ansi.TruncateLeft(s, max(Width(s)-w, 0), "") }

// align fits a text into a column and its gap.
func align(s string, w int, right bool) string {
	switch {
	case w == 0:
		return ""
	case right && Width(s) < w:
		s = strings.Repeat(" ", w-Width(s)) + s
	}
	return Fit(s, w) + " "
}
