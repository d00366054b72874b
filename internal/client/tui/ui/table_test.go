package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// row makes a row of a table with the columns NAME, PIN, ERROR and URL.
func row(cells ...string) ui.Row {
	r := ui.Row{ID: cells[0]}
	for _, c := range cells {
		r.Cells = append(r.Cells, ui.Text(c))
	}
	return r
}

func table() *ui.Table {
	return &ui.Table{Columns: []ui.Column{
		{Name: "NAME", Width: 6}, {Name: "PIN", Width: 8, Rare: true}, {Name: "ERROR", Width: 10, Flex: true}, {Name: "URL", Width: 10, Flex: true},
	}}
}

// TestFlexibleColumns: a column takes what its texts need before another one takes more than that; a
// rare column without a text takes nothing.
func TestFlexibleColumns(t *testing.T) {
	t.Parallel()
	theme := ui.NewTheme(lipgloss.NewRenderer(&strings.Builder{}))
	url := "http://v-20261128044939.guestbook.localhost:8787"
	page := ui.Page{Theme: theme, W: 80, H: 4}
	view := table().View([]ui.Row{row("v1", "", "", url), row("v2", "-", "failed", "")}, page, "")
	if !strings.Contains(view, url) || strings.Contains(view, "PIN") {
		t.Errorf("got\n%s", view)
	}
	view = table().View([]ui.Row{row("v1", "pinned", "", url), row("v2", "", "", "")}, page, "")
	if !strings.Contains(view, "PIN") || !strings.Contains(view, url) {
		t.Errorf("got\n%s", view)
	}
}

// TestSelectionBar: the bar of the selected row is as wide as the page, without a gap, also where cells
// have colors of their own.
func TestSelectionBar(t *testing.T) {
	t.Parallel()
	r := lipgloss.NewRenderer(&strings.Builder{})
	r.SetColorProfile(termenv.TrueColor)
	theme := ui.NewTheme(r)
	rows := []ui.Row{{ID: "v1", Cells: []ui.Cell{ui.Text("v1", &theme.Bold), ui.Text("★", &theme.Accent), ui.Text("it threw", &theme.Bad), ui.Text("", &theme.Dim)}}}
	line := strings.Split(table().View(rows, ui.Page{Theme: theme, W: 100, H: 3}, ""), "\n")[1]
	if w := ansi.StringWidth(line); w != 100 {
		t.Errorf("the bar is %d wide: %q", w, line)
	}
	if n := strings.Count(line, "\x1b["); n != 2 || !strings.HasPrefix(line, "\x1b[7m") {
		t.Errorf("the bar has gaps: %q", line)
	}
}

// TestMillis: durations have one form.
func TestMillis(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0ms": 0, "0.4ms": 400 * time.Microsecond, "5ms": 5939 * time.Microsecond, "20ms": 20 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "2m05s": 125 * time.Second,
	} {
		if got := ui.Millis(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}
