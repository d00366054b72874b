package database

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	defaultRows = 100
	maxRows     = 1000
	maxPage     = 8 << 20 // bytes of rows, after which a page ends early
)

// browse is a request for a page of a table's rows [D33].
type browse struct {
	table   string
	columns []string
	key     []string // SQL that tells rows apart; none for a view
	orderBy string   // a column, or ""
	desc    bool
	limit   int
	after   position
}

// position is the row after which a page begins, by its values or its number.
type position struct {
	Order *value  `json:"o,omitempty"`
	Key   []value `json:"k,omitempty"`
	Skip  int64   `json:"s,omitempty"`
}

func (a admin) rows(d *database, w http.ResponseWriter, r *http.Request) error {
	var out bytes.Buffer
	err := d.db.Read(r.Context(), func(c *raw.Conn) error {
		b, err := readBrowse(c, r)
		if err != nil {
			return err
		}
		scope := binding.Scope("rows", r.URL.Query().Get("binding"), b.table, b.orderBy, strconv.FormatBool(b.desc))
		if err := binding.ReadCursor(scope, r.URL.Query().Get("cursor"), &b.after); err != nil {
			return err
		}
		return b.write(c, &out, scope)
	})
	if err != nil {
		return err
	}
	binding.Reply(w, "application/json", out.Bytes())
	return nil
}

// readBrowse reads a request for the rows of a table.
func readBrowse(c *raw.Conn, r *http.Request) (*browse, error) {
	table, query := r.PathValue("table"), r.URL.Query()
	b := &browse{orderBy: query.Get("order_by")}
	shape, err := shapeOf(c, table)
	if err != nil {
		return nil, err
	}
	if shape.kind == "" || reserved(table) || strings.HasPrefix(strings.ToLower(table), "sqlite_") {
		return nil, svc.Errorf(svc.NotFound, svc.CodeTableNotFound, "the database has no such table")
	}
	b.table, b.columns, b.key = shape.name, shape.columns, shape.key
	if b.limit, err = binding.ListLimit(r, defaultRows, maxRows); err != nil {
		return nil, err
	}
	switch dir := query.Get("dir"); dir {
	case "", "asc":
	case "desc":
		b.desc = true
	default:
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidDir, "dir is asc or desc")
	}
	if b.orderBy != "" && !slices.ContainsFunc(b.columns, func(name string) bool { return strings.EqualFold(name, b.orderBy) }) {
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidOrderBy, "the table has no such column to order by").
			WithHint("it has %s", strings.Join(b.columns, ", "))
	}
	return b, nil
}

// query is the SQL of the page and its parameters: the key and the order come
// first in each row.
func (b *browse) query() (string, []any, error) {
	direction, beyond := "ASC", ">"
	if b.desc {
		direction, beyond = "DESC", "<"
	}
	terms := slices.Clone(b.key)
	if b.orderBy != "" {
		terms = append([]string{quoteName(b.orderBy)}, terms...)
	}
	where, args, err := b.condition(beyond)
	if err != nil {
		return "", nil, err
	}
	text := "SELECT " + strings.Join(append(terms, "*"), ", ") + " FROM main." + quoteName(b.table) + where
	for i, term := range terms {
		terms[i] = term + " " + direction
	}
	if len(terms) > 0 {
		text += " ORDER BY " + strings.Join(terms, ", ")
	}
	text += fmt.Sprintf(" LIMIT %d", b.limit+1)
	if len(b.key) == 0 {
		text += fmt.Sprintf(" OFFSET %d", max(b.after.Skip, 0))
	}
	return text, args, nil
}

// condition is what the rows after the position have in common. NULLs are less
// than all values.
func (b *browse) condition(beyond string) (where string, args []any, err error) {
	switch len(b.after.Key) {
	case 0:
		return "", nil, nil
	case len(b.key):
	default:
		return "", nil, errStale(nil)
	}
	keys := "(" + strings.Join(b.key, ", ") + ") " + beyond + " (?" + strings.Repeat(", ?", len(b.key)-1) + ")"
	for _, v := range b.after.Key {
		arg, err := v.bind()
		if err != nil {
			return "", nil, errStale(err)
		}
		args = append(args, arg)
	}
	if b.orderBy == "" || b.after.Order == nil {
		return " WHERE " + keys, args, nil
	}
	order, err := b.after.Order.bind()
	if err != nil {
		return "", nil, errStale(err)
	}
	column := quoteName(b.orderBy)
	switch {
	case order == nil && b.desc:
		return " WHERE " + column + " IS NULL AND " + keys, args, nil
	case order == nil:
		return " WHERE " + column + " IS NULL AND " + keys + " OR " + column + " IS NOT NULL", args, nil
	}
	where = " WHERE " + column + " = ? AND " + keys + " OR " + column + " " + beyond + " ?"
	if b.desc {
		where += " OR " + column + " IS NULL"
	}
	return where, append(append([]any{order}, args...), order), nil
}

// errStale refuses a cursor that does not fit the table, or not any more.
func errStale(cause error) error {
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidCursor, "the cursor does not match the table").
		WithHint("start again without a cursor").Because(cause)
}

// write writes the page.
func (b *browse) write(c *raw.Conn, out *bytes.Buffer, scope string) error {
	text, args, err := b.query()
	if err != nil {
		return err
	}
	c.Limit(raw.LimitColumns, 3*maxColumns) // the key is beside the columns
	p := policy{reader: true}
	c.SetAuthorizer(p.allow)
	defer c.SetAuthorizer(nil)
	s, _, err := c.Prepare(text)
	if err != nil {
		return err
	}
	defer s.Finalize()
	for i, arg := range args {
		if err := s.Bind(i+1, arg); err != nil {
			return err
		}
	}
	lead := s.Columns() - len(b.columns)
	out.WriteString(`{"columns":`)
	out.Write(appendNames(nil, s, lead))
	out.WriteString(`,"rows":[`)
	var next *position
	for n := 0; ; n++ {
		more, err := s.Step()
		if err != nil {
			return err
		}
		if !more {
			next = nil
			break
		}
		if next != nil && (n == b.limit || out.Len() > maxPage) {
			break
		}
		if n > 0 {
			out.WriteByte(',')
		}
		out.Write(appendRow(out.AvailableBuffer(), s, lead))
		next = b.at(s, n+1)
	}
	return b.finish(out, scope, next)
}

// at is the position of the current row, the n-th of the page.
func (b *browse) at(s *raw.Stmt, n int) *position {
	if len(b.key) == 0 {
		return &position{Skip: b.after.Skip + int64(n)}
	}
	p := &position{}
	i := 0
	if b.orderBy != "" {
		v := valueOf(s, 0)
		p.Order, i = &v, 1
	}
	for range b.key {
		p.Key = append(p.Key, valueOf(s, i))
		i++
	}
	return p
}

// finish writes next_cursor.
func (b *browse) finish(out *bytes.Buffer, scope string, next *position) error {
	out.WriteString(`],"next_cursor":`)
	if next == nil {
		out.WriteString("null}")
		return nil
	}
	cursor, err := binding.Cursor(scope, next)
	if err != nil {
		return err
	}
	out.Write(append(appendString(out.AvailableBuffer(), cursor), '}'))
	return nil
}

// appendNames writes the names of the columns from first on, as an array.
func appendNames(b []byte, s *raw.Stmt, first int) []byte {
	b = append(b, '[')
	for i := first; i < s.Columns(); i++ {
		if i > first {
			b = append(b, ',')
		}
		b = appendString(b, s.ColumnName(i))
	}
	return append(b, ']')
}

// appendRow writes the current row from column first on, as an array.
func appendRow(b []byte, s *raw.Stmt, first int) []byte {
	b = append(b, '[')
	for i := first; i < s.Columns(); i++ {
		if i > first {
			b = append(b, ',')
		}
		b = appendExact(b, s, i)
	}
	return append(b, ']')
}
