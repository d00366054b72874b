package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// Column is a column of a table. Columns with a higher Drop disappear first when the
// page is narrow; those with 0 stay.
type Column struct {
	Name  string
	Width int // columns
	Right bool
	Drop  int
	Flex  bool // takes the width that is left: what its texts need, then a part of the rest
	Rare  bool // left out while no row has a text in it
}

// Cell is one cell. Sort orders the rows; "" uses the text, a number is compared as
// such.
type Cell struct {
	Text  string
	Style *lipgloss.Style // nil for plain text
	Sort  float64
	IsNum bool
	Tail  bool // a narrow column shows the end of the text, and not its beginning
}

// Text makes a cell.
func Text(s string, style ...*lipgloss.Style) Cell {
	c := Cell{Text: Clean(s)}
	if len(style) > 0 {
		c.Style = style[0]
	}
	return c
}

// Num makes a cell that is sorted by a number.
func Num(s string, n float64, style ...*lipgloss.Style) Cell {
	c := Text(s, style...)
	c.Sort, c.IsNum = n, true
	return c
}

// Row is a row. Search is text that the filter searches beside that of the cells.
type Row struct {
	ID, Search string
	Cells      []Cell
}

// Table is the state of a table: the row of the cursor, by id, so that it stays when
// rows come and go; marks, the filter and the order.
type Table struct {
	Columns []Column
	Marks   map[string]bool

	cursor string
	at     int // its position, for when its row disappears
	offset int
	filter string
	sort   int // column + 1; 0 for the order of the rows
	desc   bool
	height int // lines of the last view
}

// Filter returns the filter.
func (t *Table) Filter() string { return t.filter }

// SetFilter shows only rows that contain all words of a text; a word that begins with
// "!" must not be contained.
func (t *Table) SetFilter(text string) { t.filter = text }

// Shown returns the rows in the table's order that the filter selects.
func (t *Table) Shown(rows []Row) []Row {
	words := strings.Fields(strings.ToLower(t.filter))
	out := rows
	if len(words) > 0 {
		out = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.matches(words) })
	}
	if i := t.sort - 1; i >= 0 {
		out = slices.Clone(out)
		slices.SortStableFunc(out, func(a, b Row) int {
			x, y := a.Cells[i], b.Cells[i]
			c := cmp.Compare(x.Text, y.Text)
			if x.IsNum && y.IsNum {
				c = cmp.Compare(x.Sort, y.Sort)
			}
			if t.desc {
				return -c
			}
			return c
		})
	}
	return out
}

func (r Row) matches(words []string) bool {
	var b strings.Builder
	for _, c := range r.Cells {
		b.WriteString(c.Text + " ")
	}
	text := strings.ToLower(b.String() + r.Search)
	for _, w := range words {
		if not, isNot := strings.CutPrefix(w, "!"); strings.Contains(text, not) == isNot && not != "" {
			return false
		}
	}
	return true
}

// Selected returns the row of the cursor; ok is false in an empty table.
func (t *Table) Selected(rows []Row) (Row, bool) {
	shown := t.Shown(rows)
	if len(shown) == 0 {
		return Row{}, false
	}
	return shown[t.position(shown)], true
}

// Chosen returns the ids of the marked rows that are shown, or else that of the cursor.
func (t *Table) Chosen(rows []Row) (ids []string) {
	for _, r := range t.Shown(rows) {
		if t.Marks[r.ID] {
			ids = append(ids, r.ID)
		}
	}
	if r, ok := t.Selected(rows); ok && len(ids) == 0 {
		ids = append(ids, r.ID)
	}
	return ids
}

// position returns where the cursor is.
func (t *Table) position(shown []Row) int {
	if i := slices.IndexFunc(shown, func(r Row) bool { return r.ID == t.cursor }); i >= 0 {
		t.at = i
	}
	t.at = min(max(t.at, 0), len(shown)-1)
	return t.at
}

// Update takes a key; false means that the table has no use for it.
func (t *Table) Update(k tea.KeyMsg, rows []Row) bool {
	page := max(t.height-1, 1)
	switch k.String() {
	case "up", "k":
		t.Move(-1, rows)
	case "down", "j":
		t.Move(1, rows)
	case "pgup", "b", "ctrl+b":
		t.Move(-page, rows)
	case "pgdown", "f", "ctrl+f":
		t.Move(page, rows)
	case "ctrl+u":
		t.Move(-page/2, rows)
	case "ctrl+d":
		t.Move(page/2, rows)
	case "home", "g":
		t.Move(-len(rows), rows)
	case "end", "G":
		t.Move(len(rows), rows)
	case " ":
		t.mark(rows)
	case "s":
		t.sort, t.desc = (t.sort+1)%(len(t.Columns)+1), false
	case "S":
		t.desc = !t.desc
	default:
		return false
	}
	return true
}

func (t *Table) mark(rows []Row) {
	if t.Marks == nil {
		t.Marks = map[string]bool{}
	}
	if r, ok := t.Selected(rows); ok {
		if t.Marks[r.ID] = !t.Marks[r.ID]; !t.Marks[r.ID] {
			delete(t.Marks, r.ID)
		}
		t.Move(1, rows)
	}
}

// Move moves the cursor by a number of rows.
func (t *Table) Move(by int, rows []Row) {
	shown := t.Shown(rows)
	if len(shown) == 0 {
		return
	}
	at := min(max(t.position(shown)+by, 0), len(shown)-1)
	t.at, t.cursor = at, shown[at].ID
}

// Click moves the cursor to the row of a line of the view.
func (t *Table) Click(y int, rows []Row) {
	if shown := t.Shown(rows); y >= 1 && t.offset+y-1 < len(shown) {
		t.at, t.cursor = t.offset+y-1, shown[t.offset+y-1].ID
	}
}
