package rowsql

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// DropOf returns the statement that deletes an object of the schema.
func DropOf(kind, object string) string { return "DROP " + strings.ToUpper(kind) + " " + name(object) }

// Names returns the columns of the table that sql creates, without virtual ones.
func (t *Tables) Names(sql string) (names []string, err error) {
	of, err := t.table(sql)
	if err != nil {
		return nil, err
	}
	for _, c := range of.columns {
		names = append(names, c.name)
	}
	return names, nil
}

// Alter returns the statements that turn the table of one statement into that of another one; nil
// if more than added columns is different. SQLite inserts the text of an added column into the
// statement of the table, so that it is found there.
func (t *Tables) Alter(table, was, is string) (list []string) {
	text, ok := inserted(was, is)
	if !ok {
		return nil
	}
	for _, column := range split(text) {
		list = append(list, "ALTER TABLE "+name(table)+" ADD COLUMN "+column)
	}
	// The proof: SQLite, with these statements, makes the same text.
	err := t.inEmpty(func() error {
		for _, sql := range append([]string{was}, list...) {
			if err := t.conn.Exec(sql); err != nil {
				return err
			}
		}
		return t.conn.Query("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", []any{table}, func(s *raw.Stmt) error {
			if s.Text(0) != is {
				return ErrTable
			}
			return nil
		})
	})
	if err != nil {
		return nil
	}
	return list
}

// inserted returns what was inserted into a text, from a comma on.
func inserted(was, is string) (text string, ok bool) {
	begin := 0
	for begin < min(len(was), len(is)) && was[begin] == is[begin] {
		begin++
	}
	n := len(is) - len(was)
	if n <= 0 || was[begin:] != is[begin+n:] {
		return "", false
	}
	for begin > 0 && is[begin] != ',' && is[begin-1] == is[begin+n-1] {
		begin--
	}
	return is[begin : begin+n], is[begin] == ','
}

// split returns the parts of a list that begins with a comma, without commas in parentheses,
// quotes and comments.
func split(list string) (parts []string) {
	depth, begin := 0, -1
	for i := 0; i < len(list); i++ {
		switch c := list[i]; c {
		case '\'', '"', '`', '[': // a doubled quote ends one text and begins the next one
			if c == '[' {
				c = ']'
			}
			end := strings.IndexByte(list[i+1:], c)
			if end < 0 {
				return nil
			}
			i += end + 1
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				if begin >= 0 {
					parts = append(parts, list[begin:i])
				}
				begin = i + 1
			}
		}
	}
	if begin >= 0 {
		parts = append(parts, list[begin:])
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}
