package rowsql

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// ErrTable says that SQLite does not accept the statement of a table.
var ErrTable = errors.New("table is not readable")

// create begins the statement of every table in the schema of a database.
const create = "CREATE TABLE "

// Tables knows the columns of tables by their CREATE TABLE statements.
type Tables struct {
	conn  *raw.Conn
	known map[string]*table
}

// table says what the rows of a table have.
type table struct {
	columns []column // in the order of the file
	key     []string // names of the columns that identify a row; nil: its rowid has no name among the columns
	alias   string   // the column that is another name of the rowid; "" for none
	without bool     // WITHOUT ROWID
}

type column struct {
	name      string
	generated bool
	real      bool // the file has whole numbers as integers

	typed   string        // the declared type and the default, in SQL; "" without a default
	initial rowdiff.Value // of rows that were written before the column was added
}

// Open returns Tables, which the caller closes.
func Open() (*Tables, error) {
	conn, err := raw.Open(":memory:", raw.Options{})
	if err != nil {
		return nil, err
	}
	return &Tables{conn: conn, known: map[string]*table{}}, nil
}

// Close releases the database in memory.
func (t *Tables) Close() error { return t.conn.Close() }

// IfMissing returns a CREATE TABLE statement that does nothing where the table exists.
func IfMissing(sql string) string {
	return strings.Replace(sql, create, create+"IF NOT EXISTS ", 1)
}

// table returns the table that a statement creates.
func (t *Tables) table(sql string) (*table, error) {
	if known := t.known[sql]; known != nil {
		return known, nil
	}
	if !strings.HasPrefix(sql, create) {
		return nil, fmt.Errorf("%.80q: %w", sql, ErrTable)
	}
	read := &table{}
	err := t.inEmpty(func() error {
		if err := t.conn.Exec(sql); err != nil {
			return fmt.Errorf("%w: %w", ErrTable, err)
		}
		return read.describe(t.conn)
	})
	if err != nil {
		return nil, err
	}
	t.fill(read)
	t.known[sql] = read
	return read, nil
}

// inEmpty runs fn and undoes it.
func (t *Tables) inEmpty(fn func() error) error {
	if err := t.conn.Exec("BEGIN"); err != nil {
		return err
	}
	return errors.Join(fn(), t.conn.Exec("ROLLBACK"))
}

// describe reads the one table of a database.
func (t *table) describe(c *raw.Conn) error {
	var all []column
	var place []int // in the primary key, from 1
	err := c.Query(`SELECT x.name, x.type, x.pk, x.hidden, iif(x.dflt_value IS NULL, '', x.type || ' DEFAULT (' || x.dflt_value || ')') FROM sqlite_schema s, pragma_table_xinfo(s.name) x
		WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY x.cid`, nil, func(s *raw.Stmt) error {
		const virtual, stored = 2, 3
		all = append(all, column{name: s.Text(0), real: isReal(s.Text(1)), generated: s.Int64(3) == virtual || s.Int64(3) == stored, typed: s.Text(4)})
		place = append(place, int(s.Int64(2)))
		if s.Int64(3) != virtual {
			t.columns = append(t.columns, all[len(all)-1])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for at := 1; ; at++ {
		i := slices.Index(place, at)
		if i < 0 {
			break
		}
		t.key = append(t.key, all[i].name)
	}
	return t.index(c, all)
}

// index reads the index of the primary key: a table without that index has a column that is
// another name of the rowid, and the index of a table WITHOUT ROWID is the table.
func (t *table) index(c *raw.Conn, all []column) error {
	indexed, without := false, false
	var columns []column
	err := c.Query(`SELECT x.cid, l.wr FROM pragma_table_list l, pragma_index_list(l.name) i, pragma_index_xinfo(i.name) x
		WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND i.origin = 'pk' ORDER BY x.seqno`, nil, func(s *raw.Stmt) error {
		indexed, without = true, s.Int64(1) != 0
		if cid := int(s.Int64(0)); cid >= 0 { // a negative one is the rowid
			columns = append(columns, all[cid])
		}
		return nil
	})
	switch {
	case without:
		t.columns, t.without = columns, true
	case !indexed && len(t.key) == 1:
		t.alias = t.key[0]
	}
	return err
}

// isReal reports whether a declared type has the affinity REAL, by the rules of SQLite.
func isReal(declared string) bool {
	declared = strings.ToUpper(declared)
	for _, other := range []string{"INT", "CHAR", "CLOB", "TEXT", "BLOB"} {
		if strings.Contains(declared, other) {
			return false
		}
	}
	for _, name := range []string{"REAL", "FLOA", "DOUB"} { //nolint:misspell // a part of DOUBLE
		if strings.Contains(declared, name) {
			return true
		}
	}
	return false
}

// Column is a value with its name.
type Column struct {
	Name  string
	Value rowdiff.Value
}

// Columns returns the columns of a row of the table that sql creates, without generated ones
// and without those that were added after the row was written, which have their default.
func (t *Tables) Columns(sql string, r rowdiff.Record) ([]Column, error) {
	of, err := t.table(sql)
	if err != nil {
		return nil, err
	}
	return of.named(r)
}

func (t *table) named(r rowdiff.Record) (list []Column, err error) {
	if len(r.Values) > len(t.columns) {
		return nil, fmt.Errorf("row has %d columns, its table %d: %w", len(r.Values), len(t.columns), rowdiff.ErrCorrupt)
	}
	for i, v := range r.Values {
		c := t.columns[i]
		if c.generated {
			continue
		}
		if c.name == t.alias {
			v = r.RowID
		}
		if whole, ok := v.(int64); ok && c.real {
			v = float64(whole)
		}
		list = append(list, Column{c.name, v})
	}
	return list, nil
}
