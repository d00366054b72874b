package database

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// shape is what a table is made of.
type shape struct {
	name    string   // as it was declared
	kind    string   // table, view, virtual or shadow; "" if absent
	columns []string // that SELECT * gives
	bare    bool     // WITHOUT ROWID
	key     []string // SQL that tells its rows apart; none where there is no such thing
}

// shapeOf looks at a table, whatever its name's case. It asks under no policy.
func shapeOf(c *raw.Conn, table string) (t shape, err error) {
	err = c.Query(`SELECT name, type, wr FROM pragma_table_list(?1) WHERE schema = 'main'`, []any{table}, func(s *raw.Stmt) error {
		t.name, t.kind, t.bare = s.Text(0), s.Text(1), s.Int64(2) != 0
		return nil
	})
	if err != nil {
		return t, err
	}
	var names []string
	err = c.Query(`SELECT name, pk, hidden FROM pragma_table_xinfo(?1)`, []any{table}, func(s *raw.Stmt) error {
		names = append(names, strings.ToLower(s.Text(0)))
		if s.Int64(2) != 1 {
			t.columns = append(t.columns, s.Text(0))
		}
		return nil
	})
	switch {
	case err != nil:
		return t, err
	case t.kind == "view":
	case t.bare:
		err = c.Query(`SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0 ORDER BY pk`, []any{table}, func(s *raw.Stmt) error {
			t.key = append(t.key, quoteName(s.Text(0)))
			return nil
		})
	default:
		t.key = rowIDName(names)
	}
	return t, err
}

// rowIDName is a name for the rowid that no column has taken.
func rowIDName(columns []string) []string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.Contains(columns, name) {
			return []string{name}
		}
	}
	return nil
}
