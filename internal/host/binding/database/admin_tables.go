package database

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
)

// countTime is how long the rows of all tables are counted; larger tables have
// no count then.
const countTime = 3 * time.Second

// listedTable is one row of GET /database/tables [D33].
type listedTable struct {
	Name    string         `json:"name"`
	Type    string         `json:"type"`      // table, view, virtual or shadow
	Rows    *int64         `json:"row_count"` // nil when not counted
	Columns []listedColumn `json:"columns"`
	SQL     string         `json:"sql"`
}

type listedColumn struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"` // as declared
	NotNull    bool    `json:"not_null"`
	Default    *string `json:"default"`     // an expression, or nil
	PrimaryKey int64   `json:"primary_key"` // its place in the key, from 1; 0 when not of it
	Generated  bool    `json:"generated"`
}

func (a admin) tables(d *database, w http.ResponseWriter, r *http.Request) error {
	items := []listedTable{}
	err := d.db.Read(r.Context(), func(c *raw.Conn) (err error) {
		items, err = tables(c, items)
		return err
	})
	if err != nil {
		return err
	}
	if err := d.count(r.Context(), items); err != nil {
		return err
	}
	return binding.WriteItems(w, items)
}

// tables adds the tables and views but the engine's own.
func tables(c *raw.Conn, items []listedTable) ([]listedTable, error) {
	err := c.Query(`SELECT l.name, l.type, coalesce(s.sql, '') FROM pragma_table_list l JOIN sqlite_schema s ON s.name = l.name
		WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND l.name NOT LIKE '\_cf\_%' ESCAPE '\' ORDER BY l.name`,
		nil, func(s *raw.Stmt) error {
			items = append(items, listedTable{Name: s.Text(0), Type: s.Text(1), SQL: s.Text(2), Columns: []listedColumn{}})
			return nil
		})
	if err != nil {
		return nil, err
	}
	for i := range items {
		t := &items[i]
		err := c.Query(`SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)`, []any{t.Name}, func(s *raw.Stmt) error {
			hidden := s.Int64(5)
			if hidden == 1 { // of a virtual table, for its own ends
				return nil
			}
			column := listedColumn{Name: s.Text(0), Type: s.Text(1), NotNull: s.Int64(2) != 0, PrimaryKey: s.Int64(4), Generated: hidden > 1}
			if !s.IsNull(3) {
				text := s.Text(3)
				column.Default = &text
			}
			t.Columns = append(t.Columns, column)
			return nil
		})
		if err != nil && t.Type != "view" { // one that cannot be read has no columns
			return nil, err
		}
	}
	return items, nil
}

// count counts the rows of tables until its time is over.
func (d *database) count(ctx context.Context, items []listedTable) error {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	err := d.db.Read(ctx, func(c *raw.Conn) error {
		for i := range items {
			if items[i].Type == "view" { // its rows are made by a query of any cost
				continue
			}
			err := c.Query(`SELECT count(*) FROM main.`+quoteName(items[i].Name), nil, func(s *raw.Stmt) error {
				n := s.Int64(0)
				items[i].Rows = &n
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if _, ok := errors.AsType[*raw.Error](err); ok { // out of time, or a virtual table that cannot be counted
		return nil
	}
	return err
}
