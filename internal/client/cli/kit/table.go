package kit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// gap is what stands between two columns.
const gap = "  "

// Table writes rows under a header, in columns. Rows are not longer than the header. On a
// terminal, a status has a color.
func (k *Kit) Table(header []string, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i := range row {
			row[i] = Clean(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	paint := k.colors()
	for _, row := range append([][]string{header}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			room := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if paint && slices.Contains(statusColumns, header[i]) {
				cell = painted(cell)
			}
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(room + gap)
			}
		}
		_, _ = fmt.Fprintln(k.Out, line.String()) // as Printf
	}
}

// TableFit is Table without the columns that a terminal has no room for: those of spare, from the first on. With
// -o wide all stay.
func (k *Kit) TableFit(header []string, rows [][]string, spare ...string) {
	var dropped []string
	for _, name := range spare {
		if k.Columns <= 0 || k.Wide() || widthOf(header, rows) <= k.Columns {
			break
		}
		i := slices.Index(header, name)
		if i < 0 {
			continue
		}
		dropped = append(dropped, name)
		header = slices.Delete(slices.Clone(header), i, i+1)
		for n, row := range rows {
			if i < len(row) {
				rows[n] = slices.Delete(slices.Clone(row), i, i+1)
			}
		}
	}
	k.Table(header, rows)
	if len(dropped) > 0 {
		k.Notef("no room for %s; -o wide shows all columns", strings.Join(dropped, ", "))
	}
}

// widthOf is how wide a table is, in characters.
func widthOf(header []string, rows [][]string) int {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(Clean(cell)))
		}
	}
	total := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// Rows makes a row of each item.
func Rows[T any](items []T, row func(T) []string) [][]string {
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	return rows
}

// PrintList is Print for a list: for people, a table with a row for each item.
func PrintList[T any](k *Kit, items []T, header []string, row func(T) []string) error {
	return k.Print(items, func() { k.Table(header, Rows(items, row)) })
}

// painted is a status in its color.
func painted(status string) string {
	if color := colorOf[status]; color != "" {
		return "\x1b[" + color + "m" + status + "\x1b[0m"
	}
	return status
}

// Painted is a text in a color, as SGR parameters, where standard output shows colors.
func (k *Kit) Painted(text, color string) string {
	if color == "" || !k.colors() {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// colors reports whether standard output is a terminal that shows colors.
func (k *Kit) colors() bool {
	c, err := k.Config()
	return err == nil && k.OutTTY && !c.CI && !c.NoColor && c.Terminal != "dumb"
}

//nolint:gochecknoglobals // a constant list
var statusColumns = []string{"STATUS", "RUNTIME", "OUTCOME", "STATE"}

// colorOf is the color of each status, as SGR parameters.
//
//nolint:gochecknoglobals // a constant table
var colorOf = map[string]string{
	"ready": "32", "serving": "32", "done": "32", "ok": "32", "complete": "32",
	"failed": "31", "crashed": "31", "backoff": "31", "exception": "31", "errored": "31",
	"pending": "33", "fetching": "33", "branching": "33", "preparing": "33", "deploying": "33", "draining": "33",
	"archived": "90", "destroyed": "90", "asleep": "90",
}
