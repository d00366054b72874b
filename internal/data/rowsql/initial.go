package rowsql

import (
	"bytes"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// fill reads the defaults of a table. Rows that were written before a column was added do not have
// it, and SQLite reads its default there, in the type of the column. A default that cannot be
// computed here is no constant, and no such column can be added.
func (t *Tables) fill(of *table) {
	for i := range of.columns {
		c := &of.columns[i]
		if c.typed == "" || c.generated {
			continue
		}
		_ = t.inEmpty(func() (err error) {
			if err = t.conn.Exec("CREATE TABLE x(y " + c.typed + ")"); err == nil {
				err = t.conn.Exec("INSERT INTO x DEFAULT VALUES")
			}
			if err == nil {
				err = t.conn.Query("SELECT y FROM x", nil, func(s *raw.Stmt) error { c.initial = valueOf(s, 0); return nil })
			}
			return err
		})
	}
}

// valueOf is a column of a result.
func valueOf(s *raw.Stmt, i int) rowdiff.Value { //nolint:ireturn // one of five types
	switch s.ColumnType(i) {
	case raw.Integer:
		return s.Int64(i)
	case raw.Float:
		return s.Float64(i)
	case raw.Text:
		return s.Text(i)
	case raw.Blob:
		return bytes.Clone(s.Blob(i))
	case raw.Null:
	}
	return nil
}
