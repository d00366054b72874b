package data

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// content is what a level shows.
type content struct {
	head    []string // lines above the table
	columns []ui.Column
	rows    []ui.Row
	next    string // cursor of the next page; "" for none
	loaded  bool
	err     error
	open    func(ui.Row) ui.Intent // for enter; nil for rows that open nothing
}

func (c *Screen) content(s *state.State, t *ui.Theme) content {
	switch c.kind {
	case tables:
		return c.tables(s, t)
	case rows:
		page, ok, err := state.Get[api.RowPage](s, c.need())
		return grid(page.Columns, page.Rows, page.NextCursor, ok, err)
	case query:
		return c.results(s)
	case keys:
		return c.keys(s, t)
	case objects:
		return c.objects(s, t)
	case diff:
		return c.diff(s, t)
	case messages:
		return c.messages(s, t)
	case instances:
		return c.instances(s, t)
	case steps:
		return c.steps(s, t)
	}
	return c.stores(s, t)
}

func (c *Screen) stores(s *state.State, t *ui.Theme) content {
	list, ok, err := state.Get[state.StoreList](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{{Name: "NAME", Width: 24}, {Name: "KIND", Width: 12}, {Name: "SIZE", Width: 10, Right: true}, {Name: "", Width: 16}}}
	add := func(kind, binding, what string, size int64, n int64, unit string) {
		out.rows = append(out.rows, ui.Row{ID: kind + "/" + binding, Cells: []ui.Cell{
			ui.Text(binding, &t.Bold), ui.Text(what), ui.Num(ui.Bytes(size), float64(size)), ui.Num(fmt.Sprintf("%s: %d", unit, n), float64(n), &t.Dim),
		}})
	}
	for _, d := range list.Databases {
		add(tables, d.Binding, "database", d.SizeBytes, d.Tables, "tables")
	}
	for _, n := range list.Namespaces {
		add(keys, n.Binding, "kv", n.SizeBytes, n.Keys, "keys")
	}
	for _, b := range list.Buckets {
		add(objects, b.Binding, "bucket", b.SizeBytes, b.Objects, "objects")
	}
	for _, q := range list.Queues {
		add(messages, q.Name, "queue", q.SizeBytes, q.Ready+q.Delayed+q.Inflight, "messages")
	}
	for _, w := range list.Workflows {
		n := int64(0)
		for _, count := range w.Counts {
			n += count
		}
		out.rows = append(out.rows, ui.Row{ID: instances + "/" + w.Name, Cells: []ui.Cell{
			ui.Text(w.Name, &t.Bold), ui.Text("workflow"), ui.Num("", 0), ui.Num(fmt.Sprintf("instances: %d", n), float64(n), &t.Dim),
		}})
	}
	out.open = func(r ui.Row) ui.Intent {
		binding := r.Cells[0].Text
		return c.open(r.ID[:len(r.ID)-len(binding)-1], binding, "")
	}
	return out
}

func (c *Screen) tables(s *state.State, t *ui.Theme) content {
	list, ok, err := state.Get[[]api.Table](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{{Name: "TABLE", Width: 28}, {Name: "ROWS", Width: 10, Right: true}, {Name: "COLUMNS", Width: 30, Flex: true}}}
	for _, one := range list {
		count := ui.Num("?", -1)
		if one.RowCount != nil {
			count = ui.Num(fmt.Sprint(*one.RowCount), float64(*one.RowCount))
		}
		var names []string
		for _, col := range one.Columns {
			names = append(names, col.Name)
		}
		out.rows = append(out.rows, ui.Row{ID: one.Name, Cells: []ui.Cell{ui.Text(one.Name, &t.Bold), count, ui.Text(strings.Join(names, ", "), &t.Dim)}})
	}
	out.open = func(r ui.Row) ui.Intent { return c.open(rows, c.arg[0], r.ID) }
	return out
}

// grid shows rows of SQL.
func grid(columns []string, values [][]any, next *string, ok bool, err error) content {
	out := content{loaded: ok, err: err}
	if next != nil {
		out.next = *next
	}
	for i, name := range columns {
		w := ui.Width(name)
		for _, v := range values {
			w = max(w, ui.Width(text(v[i])))
		}
		out.columns = append(out.columns, ui.Column{Name: ui.Clean(name), Width: min(w, 32), Flex: i == len(columns)-1})
	}
	for n, v := range values {
		row := ui.Row{ID: fmt.Sprint(n)}
		for i := range columns {
			cell := ui.Text(text(v[i]))
			if f, isNum := v[i].(float64); isNum {
				cell.Sort, cell.IsNum = f, true
			}
			row.Cells = append(row.Cells, cell)
		}
		out.rows = append(out.rows, row)
	}
	return out
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// results shows the last statement's rows.
func (c *Screen) results(s *state.State) content {
	list, ok, err := state.Get[[]api.QueryResult](s, c.need())
	if !ok || len(list) == 0 {
		return content{loaded: ok, err: err}
	}
	last := list[len(list)-1]
	columns := last.Columns
	if len(columns) == 0 && len(last.Results) > 0 {
		columns = slices.Sorted(maps.Keys(last.Results[0]))
	}
	values := make([][]any, len(last.Results))
	for i, r := range last.Results {
		for _, name := range columns {
			values[i] = append(values[i], r[name])
		}
	}
	return grid(columns, values, nil, ok, err)
}

func (c *Screen) keys(s *state.State, t *ui.Theme) content {
	page, ok, err := state.Get[api.KeyPage](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{{Name: "KEY", Width: 40, Flex: true}, {Name: "EXPIRES", Width: 20}, {Name: "METADATA", Width: 20, Drop: 1}}}
	if page.NextCursor != nil {
		out.next = *page.NextCursor
	}
	for _, k := range page.Items {
		expires := ""
		if k.Expiration > 0 {
			expires = time.Unix(k.Expiration, 0).UTC().Format("2006-01-02 15:04:05")
		}
		out.rows = append(out.rows, ui.Row{ID: k.Name, Cells: []ui.Cell{ui.Text(k.Name, &t.Bold), ui.Text(expires, &t.Dim), ui.Text(string(k.Metadata), &t.Dim)}})
	}
	out.open = func(r ui.Row) ui.Intent { return c.open(value, c.arg[0], r.ID) }
	return out
}

func (c *Screen) objects(s *state.State, t *ui.Theme) content {
	page, ok, err := state.Get[api.ObjectPage](s, c.need())
	out := content{loaded: ok, err: err, columns: []ui.Column{{Name: "KEY", Width: 40, Flex: true}, {Name: "SIZE", Width: 10, Right: true}, {Name: "TYPE", Width: 20, Drop: 2}, {Name: "STORED", Width: 19, Drop: 1}}}
	if page.NextCursor != nil {
		out.next = *page.NextCursor
	}
	for _, o := range page.Items {
		out.rows = append(out.rows, ui.Row{ID: o.Key, Cells: []ui.Cell{
			ui.Text(o.Key, &t.Bold), ui.Num(ui.Bytes(o.SizeBytes), float64(o.SizeBytes)), ui.Text(o.HTTPMetadata.ContentType, &t.Dim),
			ui.Text(o.UploadedAt.UTC().Format("2006-01-02 15:04:05"), &t.Dim),
		}})
	}
	return out
}
