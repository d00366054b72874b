package divergence

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/svc"
)

// schemas are the schemas of a D1 database in both states, and the records of their difference: those
// before the rows, and those after them.
type schemas struct {
	was, is       []rowdiff.Object
	shadows       map[string]bool // tables of virtual tables, true for those that only repeat others
	before, after []svc.ExportRecord
}

// schema compares the tables, indexes, triggers and views of a D1 database.
func (d *diff) schema(ctx context.Context, database string, p *pair) (s *schemas, err error) {
	s = &schemas{}
	if s.was, err = rowdiff.Schema(ctx, p.was); err != nil {
		return nil, err
	}
	if s.is, err = rowdiff.Schema(ctx, p.is); err != nil {
		return nil, err
	}
	s.shadows = shadowsOf(slices.Concat(s.was, s.is))
	for _, o := range slices.Backward(s.was) { // what depends on a table was made after it
		if find(s.is, o) == nil && d.schemaWanted(s, o) {
			s.add(database, o, svc.ExportRecord{Op: svc.ExportDelete, Was: described(o), SQL: rowsql.DropOf(o.Type, o.Name)})
		}
	}
	for _, o := range s.is {
		old := find(s.was, o)
		if !d.schemaWanted(s, o) || old != nil && normal(old.SQL) == normal(o.SQL) {
			continue
		}
		r := svc.ExportRecord{Op: svc.ExportInsert, Values: described(o), SQL: o.SQL}
		if old != nil {
			r = d.altered(*old, o)
		}
		s.add(database, o, r)
	}
	return s, nil
}

// add adds a record of the schema.
func (s *schemas) add(database string, o rowdiff.Object, r svc.ExportRecord) {
	r.Kind, r.Resource, r.Table, r.Key = svc.DiffSchema, database, o.Table, o.Type+" "+o.Name
	if o.Type == "table" || r.Op == svc.ExportDelete {
		s.before = append(s.before, r)
	} else {
		s.after = append(s.after, r)
	}
}

func (d *diff) schemaWanted(s *schemas, o rowdiff.Object) bool {
	return d.ofTable(o.Table) && !s.shadow(o.Table)
}

func described(o rowdiff.Object) map[string]any {
	return map[string]any{"type": o.Type, "name": o.Name, "sql": o.SQL}
}

// altered is the record of an object whose statement differs. It has statements if they are known:
// for columns that were added, and for what can be made again without loss.
func (d *diff) altered(old, o rowdiff.Object) svc.ExportRecord {
	r := svc.ExportRecord{Op: svc.ExportUpdate, Was: described(old), Values: described(o)}
	if o.Type != "table" {
		r.SQL = rowsql.DropOf(o.Type, o.Name) + ";\n" + o.SQL
		return r
	}
	r.SQL = strings.Join(d.export.tables.Alter(o.Name, old.SQL, o.SQL), ";\n")
	was, err := d.export.tables.Names(old.SQL)
	if err != nil {
		return r // a virtual table: its statement says everything
	}
	is, err := d.export.tables.Names(o.SQL)
	if err != nil {
		return r
	}
	r.Values["columns_added"], r.Values["columns_removed"] = without(is, was), without(was, is)
	return r
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

func find(list []rowdiff.Object, o rowdiff.Object) *rowdiff.Object {
	i := slices.IndexFunc(list, func(x rowdiff.Object) bool { return x.Type == o.Type && x.Name == o.Name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// normal is a statement with one space between its words. Texts and quoted names stay.
func normal(sql string) string {
	var b strings.Builder
	end, before := rune(0), false // of the text that is open; whether a space is before
	for _, r := range sql {
		space := end == 0 && unicode.IsSpace(r)
		if space && before {
			continue
		}
		before = space
		switch {
		case space:
			r = ' '
		case end != 0 && r == end:
			end = 0
		case end == 0 && r == '[':
			end = ']'
		case end == 0 && strings.ContainsRune("'\"`", r):
			end = r
		}
		b.WriteRune(r)
	}
	return b.String()
}
