package database

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// copyRows copies the rows of a table, with their rowids.
func (f *file) copyRows(x *execution, o object) (rows int64, err error) {
	columns, err := f.columns(o)
	if err != nil {
		return 0, &badObject{"table " + o.name, err}
	}
	table, list := quoteName(o.name), strings.Join(columns, ", ")
	in, _, err := x.c.Prepare("INSERT INTO main." + table + " (" + list + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")")
	if err != nil {
		return 0, &badObject{"table " + o.name, x.explain(err)}
	}
	defer in.Finalize()
	out, _, err := f.c.Prepare("SELECT " + list + " FROM main." + table)
	if err != nil {
		return 0, damaged(err)
	}
	defer out.Finalize()
	for {
		more, err := out.Step()
		if err != nil {
			return rows, damaged(err)
		}
		if !more {
			return rows, nil
		}
		rows++
		if err := copyRow(in, out); err != nil {
			return rows, &badObject{fmt.Sprintf("table %s, row %s", o.name, rowName(columns, out, rows)), tooBig(err)}
		}
	}
}

func copyRow(in, out *raw.Stmt) error {
	defer in.Reset()
	for i := range out.Columns() {
		if err := in.BindColumn(i+1, out, i); err != nil {
			return err
		}
	}
	return drain(in)
}

// tooBig says more about a value or a row over the limit than the engine does.
func tooBig(err error) error {
	var e *raw.Error
	if errors.As(err, &e) && e.Code == raw.TooBig {
		return &raw.Error{Code: e.Code, Offset: -1, Message: fmt.Sprintf("more than %d bytes", maxRow)}
	}
	return err
}

// rowName is the rowid of the current row, where it was read, or its number.
func rowName(columns []string, out *raw.Stmt, number int64) string {
	if slices.Contains([]string{"rowid", "_rowid_", "oid"}, columns[0]) {
		return fmt.Sprint(out.Int64(0))
	}
	return fmt.Sprintf("no. %d", number)
}

// columns are those of a table that are stored, as SQL, after the name of its
// rowid if it has one.
func (f *file) columns(o object) (list []string, err error) {
	t, err := shapeOf(f.c, o.name)
	if err != nil {
		return nil, err
	}
	if !t.bare {
		list = append(list, t.key...)
	}
	err = f.c.Query(`SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0`, []any{o.name}, func(s *raw.Stmt) error {
		list = append(list, quoteName(s.Text(0)))
		return nil
	})
	return list, err
}

// internals copies what the engine keeps for itself: the last rowids of
// AUTOINCREMENT tables, and the statistics of ANALYZE.
func (f *file) internals(x *execution) error {
	has := func(name string) bool {
		return slices.ContainsFunc(f.objects, func(o object) bool { return o.name == name })
	}
	counted := false // it has AUTOINCREMENT tables
	err := x.c.Query(`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'`, nil, func(*raw.Stmt) error { counted = true; return nil })
	if err != nil {
		return err
	}
	if counted && has("sqlite_sequence") {
		if err := f.sequences(x); err != nil {
			return err
		}
	}
	if !has("sqlite_stat1") {
		return nil
	}
	if err := x.define("ANALYZE sqlite_schema"); err != nil { // makes the tables
		return err
	}
	for _, name := range []string{"sqlite_stat1", "sqlite_stat4"} {
		if has(name) {
			if _, err := f.copyRows(x, object{name: name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sequences sets the last rowids of the tables that came from the file.
func (f *file) sequences(x *execution) error {
	return f.c.Query(`SELECT name, seq FROM sqlite_sequence`, nil, func(s *raw.Stmt) error {
		name := s.Text(0)
		i := slices.IndexFunc(f.objects, func(o object) bool { return o.kind == "table" && o.name == name })
		if i < 0 {
			return nil
		}
		if err := x.c.Exec(`DELETE FROM sqlite_sequence WHERE name = ?1`, name); err != nil {
			return err
		}
		return x.c.Exec(`INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)`, name, s.Int64(1))
	})
}
