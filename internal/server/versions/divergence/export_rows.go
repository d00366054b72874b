package divergence

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// rowOf returns what writes the rows of a D1 database: those that were deleted, or the others.
func (e *export) rowOf(database string) func(context.Context, bool, rowdiff.Row) error {
	name := strings.TrimPrefix(database, volume.UserPrefix)
	return func(_ context.Context, deletes bool, r rowdiff.Row) error {
		if isOwn(r.Table) || deletes != (r.Now == nil) {
			return nil
		}
		change, err := e.tables.Change(r)
		if err != nil {
			return err
		}
		if r.BaseSQL == "" && e.created != r.Table {
			e.created = r.Table
			err := e.send(svc.ExportRecord{Kind: svc.ExportTable, Resource: name, Op: svc.ExportInsert, Table: r.Table, SQL: rowsql.IfMissing(r.NowSQL)})
			if err != nil {
				return err
			}
		}
		return e.send(svc.ExportRecord{
			Kind: svc.ExportRow, Resource: name, Op: svc.ExportOp(change.Op), Table: r.Table, SQL: change.SQL,
			Row: valuesOf(change.Key), Values: valuesOf(change.Values),
		})
	}
}

// isOwn reports whether a table of a D1 database belongs to the platform.
func isOwn(table string) bool { return strings.HasPrefix(table, "_cf_") }

func valuesOf(columns []rowsql.Column) map[string]any {
	if columns == nil {
		return nil
	}
	values := make(map[string]any, len(columns))
	for _, c := range columns {
		values[c.Name] = exact(c.Value)
	}
	return values
}

// maxExact is the largest integer up to which JavaScript has them all.
const maxExact = 1 << 53

// exact is a value for JSON that loses nothing but the types of large numbers [D33].
func exact(v rowdiff.Value) any {
	switch v := v.(type) {
	case int64:
		if v > maxExact || v < -maxExact {
			return strconv.FormatInt(v, 10)
		}
	case float64:
		if math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case string:
		return text(v)
	case []byte:
		return encoded(v)
	}
	return v
}

// text is a string, or its bytes where JSON cannot hold them.
func text[T ~string | ~[]byte](v T) any {
	if utf8.Valid([]byte(v)) {
		return string(v)
	}
	return encoded([]byte(v))
}

func encoded(v []byte) any { return map[string]string{"$base64": base64.StdEncoding.EncodeToString(v)} }

// stored is JSON that a column has; nil for none.
func stored(v rowdiff.Value) any {
	switch s := v.(type) {
	case string:
		if json.Valid([]byte(s)) {
			return json.RawMessage(s)
		}
		return text(s) // earlier releases did not check it
	case nil:
		return nil
	}
	return exact(v)
}
