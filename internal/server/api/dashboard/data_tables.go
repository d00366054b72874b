package dashboard

import (
	"fmt"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// showDatabase shows the tables, and the rows of one or the results of SQL that reads.
func (b *dataBody) showDatabase(c *call, v api.Version) (err error) {
	q := c.r.URL.Query()
	if b.Tables, err = c.api.Tables(c.r.Context(), v.ProjectID, v.ID, b.Name); err != nil {
		return err
	}
	if b.SQL = q.Get("sql"); b.SQL != "" {
		return b.runSQL(c, v)
	}
	b.Table = q.Get("table")
	for _, t := range b.Tables { // the first one that is the worker's own
		if b.Table == "" && t.Name != "d1_migrations" {
			b.Table = t.Name
		}
	}
	if b.Table == "" {
		return nil
	}
	rows, err := c.api.Rows(c.r.Context(), v.ProjectID, v.ID, b.Table, client.RowsOptions{Binding: b.Name, Page: client.Page{Limit: pageSize, Cursor: q.Get("cursor")}})
	if err != nil {
		return err
	}
	g := grid{Columns: rows.Columns}
	for _, row := range rows.Rows {
		cells := make([]cell, len(row))
		for i, value := range row {
			cells[i] = cellOf(value)
		}
		g.Rows = append(g.Rows, cells)
	}
	b.Grids = []grid{g}
	b.more(c, rows.NextCursor)
	return nil
}

// runSQL runs SQL in a transaction that only reads.
func (b *dataBody) runSQL(c *call, v api.Version) error {
	results, err := c.api.Query(c.r.Context(), v.ProjectID, v.ID, api.DatabaseQuery{Binding: b.Name, SQL: b.SQL})
	if client.CodeOf(err) != "" {
		b.Failed = err.Error()
		return nil
	}
	for _, result := range results {
		g := grid{Columns: result.Columns, Note: fmt.Sprintf("%s in %.1f ms", count(len(result.Results), "row", "rows"), result.Meta.Duration)}
		if result.Truncated {
			g.Note += ", truncated"
		}
		for _, row := range result.Results {
			cells := make([]cell, len(result.Columns))
			for i, name := range result.Columns {
				cells[i] = cellOf(row[name])
			}
			g.Rows = append(g.Rows, cells)
		}
		b.Grids = append(b.Grids, g)
	}
	return err
}
