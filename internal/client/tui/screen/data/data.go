package data

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// The kinds of what the screen shows: the first part of a place's Arg.
const (
	stores  = ""
	tables  = "db"  // binding
	rows    = "tbl" // binding, table
	query   = "sql" // binding, SQL
	keys    = "kv"  // binding, prefix
	value   = "val" // binding, key
	objects = "r2"  // bucket, prefix

	messages  = "queue"    // queue
	message   = "message"  // queue, id
	diff      = "diff"     // the other version; "" for the parent
	instances = "workflow" // workflow
	steps     = "instance" // workflow, id
)

// Screen is the screen. Each level is a place of its own, so that esc goes back.
type Screen struct {
	table   ui.Table
	place   ui.Place
	kind    string
	arg     [2]string
	cursors []string // of the pages before, and of this one
	top     int      // first line of a value
}

// New makes the screen of a version. Arg is made by argOf.
func New(p ui.Place) *Screen {
	parts := state.SplitArg(p.Arg, 3)
	return &Screen{place: p, kind: parts[0], arg: [2]string{parts[1], parts[2]}, cursors: []string{""}}
}

// open returns the intent that opens a level.
func (c *Screen) open(kind, one, two string) ui.Intent {
	p := c.place
	p.Arg = state.JoinArg(kind, one, two)
	return ui.Go{Place: p}
}

func (c *Screen) need() state.Need {
	n := state.Need{Project: c.place.Project, Version: c.place.Version}
	page := state.JoinArg(c.arg[0], c.arg[1], c.cursors[len(c.cursors)-1])
	switch c.kind {
	case tables:
		n.Kind, n.Arg = state.Tables, c.arg[0]
	case rows:
		n.Kind, n.Arg = state.Rows, page
	case query:
		n.Kind, n.Arg = state.Query, state.JoinArg(c.arg[0], c.arg[1])
	case keys:
		n.Kind, n.Arg = state.Keys, page
	case value:
		n.Kind, n.Arg = state.Value, state.JoinArg(c.arg[0], c.arg[1])
	case objects:
		n.Kind, n.Arg = state.Objects, page
	case diff:
		n.Kind, n.Arg = state.DataDiff, c.arg[0]
	case messages, message:
		n.Kind, n.Arg = state.Messages, c.arg[0]
	case instances:
		n.Kind, n.Arg = state.Instances, state.JoinArg(c.arg[0], c.cursors[len(c.cursors)-1])
	case steps:
		n.Kind, n.Arg = state.Instance, state.JoinArg(c.arg[0], c.arg[1])
	default:
		n.Kind = state.Stores
	}
	return n
}

// Needs implements ui.Screen.
func (c *Screen) Needs() []state.Need {
	return []state.Need{c.need(), {Kind: state.Version, Project: c.place.Project, Version: c.place.Version}}
}

// Filter implements ui.Filtered.
func (c *Screen) Filter() string { return c.table.Filter() }

// SetFilter implements ui.Filtered.
func (c *Screen) SetFilter(text string) { c.table.SetFilter(text) }

// View implements ui.Screen.
func (c *Screen) View(s *state.State, p ui.Page) string {
	head := []string{p.Head.Render(" " + ui.Clean(c.title()))}
	if c.isText() {
		return ui.Above(head, p, func(rest ui.Page) string { return c.text(s, rest) })
	}
	content := c.content(s, p.Theme)
	head = append(head, content.head...)
	if more := c.more(content.next); more != "" {
		head[0] += p.Dim.Render(more)
	}
	c.table.Columns = content.columns
	return ui.Above(head, p, func(rest ui.Page) string {
		return c.table.View(content.rows, rest, ui.Empty(content.loaded, content.err, "nothing"))
	})
}

func (c *Screen) title() string {
	name := c.arg[0]
	switch c.kind {
	case rows:
		return name + " › " + c.arg[1]
	case query:
		return name + " › " + c.arg[1]
	case keys, objects:
		return strings.TrimSuffix(name+" › "+c.arg[1]+"*", " › *")
	case value, message, steps:
		return name + " › " + c.arg[1]
	case tables, messages, instances:
		return name
	case diff:
		return "data of " + c.place.Version + " and " + c.with()
	}
	return "data of " + c.place.Version
}

// more says that there are other pages.
func (c *Screen) more(next string) string {
	text := ""
	if len(c.cursors) > 1 {
		text += "   N page before"
	}
	if next != "" {
		text += "   n next page"
	}
	return text
}

// Update implements ui.Screen.
func (c *Screen) Update(k tea.KeyMsg, s *state.State) ui.Intent {
	if c.isText() {
		return c.scroll(k, s)
	}
	content := c.content(s, &ui.Theme{})
	c.table.Columns = content.columns
	switch k.String() {
	case "n":
		if content.next != "" {
			c.cursors = append(c.cursors, content.next)
		}
		return nil
	case "N":
		c.cursors = c.cursors[:max(len(c.cursors)-1, 1)]
		return nil
	case "Q":
		return c.ask(content)
	case "c":
		return c.compare(s)
	case "P":
		if c.kind == keys || c.kind == objects {
			return c.prefix()
		}
	}
	row, ok := c.table.Selected(content.rows)
	if k.String() == "D" && (c.kind == keys || c.kind == objects) {
		return c.download(row.ID)
	}
	if i := c.change(k.String(), s, row.ID); i != nil {
		return i
	}
	switch {
	case ok && k.String() == "enter" && content.open != nil:
		return content.open(row)
	case ok && k.String() == "y":
		return ui.Copy{Text: strings.Join(texts(row), "\t")}
	}
	c.table.Update(k, content.rows)
	return nil
}

func texts(row ui.Row) (all []string) {
	for _, cell := range row.Cells {
		all = append(all, cell.Text)
	}
	return all
}

func (c *Screen) prefix() ui.Intent {
	return ui.Input{Title: "Keys of " + c.arg[0], Label: "The text that they begin with", Then: func(text string) ui.Intent {
		return c.open(c.kind, c.arg[0], text)
	}}
}

// ask asks for SQL. It only reads, unless it begins with "!".
func (c *Screen) ask(content content) ui.Intent {
	binding := c.arg[0]
	if c.kind == stores {
		row, ok := c.table.Selected(content.rows)
		if !ok || !strings.HasPrefix(row.ID, tables+"/") {
			return ui.Note{Text: "choose a database first"}
		}
		binding = strings.TrimPrefix(row.ID, tables+"/")
	}
	if c.kind != stores && c.kind != tables && c.kind != rows && c.kind != query {
		return ui.Note{Text: c.arg[0] + " is not a database"}
	}
	return ui.Input{Title: "SQL on " + binding, Label: "It only reads; with ! before it, it may change data", Then: func(text string) ui.Intent {
		sql, writes := strings.CutPrefix(text, "!")
		switch {
		case strings.TrimSpace(sql) == "":
			return ui.Note{Text: "nothing was run"}
		case !writes:
			return c.open(query, binding, sql)
		}
		return ui.Ask{
			Title: "Change the data of " + c.place.Project + "/" + c.place.Version + "?", Lines: []string{strings.TrimSpace(sql)},
			Actions: []state.Action{{Verb: state.Write, Project: c.place.Project, Version: c.place.Version, Arg: state.JoinArg(binding, sql)}},
		}
	}}
}
