package divergence

import (
	"cmp"
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/svc"
)

// sendAll passes records.
func (d *diff) sendAll(list []svc.ExportRecord) error {
	for _, r := range list {
		if err := d.export.emit(r); err != nil {
			return err
		}
	}
	return nil
}

// send passes the records of a database, each group with its count after it.
func (d *diff) send(h *held) error {
	for _, g := range slices.SortedFunc(maps.Keys(h.groups), compareGroups) {
		if err := d.sendGroup(g, h.groups[g]); err != nil {
			return err
		}
	}
	return nil
}

func (d *diff) sendGroup(g group, r *records) error {
	counts, order := r.counts, slices.SortedFunc(maps.Keys(r.changes), func(a, b string) int {
		if g.kind != svc.ExportRow {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(r.changes[a].at, r.changes[b].at)
	})
	// What is deleted comes first: a value of it that must be unique may be in another row.
	for _, op := range []svc.ExportOp{svc.ExportDelete, svc.ExportUpdate, svc.ExportInsert} {
		for _, id := range order {
			one := r.changes[id]
			if one.op() != op {
				continue
			}
			count(&counts, op)
			if d.o.Rows {
				if err := d.export.emit(recordOf(g, id, one)); err != nil {
					return err
				}
			}
		}
	}
	if counts == (svc.Written{}) {
		return nil
	}
	return d.export.emit(svc.ExportRecord{Kind: svc.DiffCount, Of: g.kind, Resource: g.resource, Table: g.table, Counts: &counts})
}

func compareGroups(a, b group) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.resource, b.resource), cmp.Compare(a.table, b.table))
}

// op is what happened to a record; "" for one that is equal in both states.
func (c *change) op() svc.ExportOp {
	switch {
	case c.was == nil:
		return svc.ExportInsert
	case c.is == nil:
		return svc.ExportDelete
	case c.was.sum != c.is.sum:
		return svc.ExportUpdate
	}
	return ""
}

func count(w *svc.Written, op svc.ExportOp) {
	switch op {
	case svc.ExportInsert:
		w.Inserted++
	case svc.ExportUpdate:
		w.Updated++
	case svc.ExportDelete:
		w.Deleted++
	}
}

func recordOf(g group, id string, c *change) svc.ExportRecord {
	out := svc.ExportRecord{Kind: g.kind, Resource: g.resource, Op: c.op(), Table: g.table}
	var was, is *rowsql.State
	if c.was != nil {
		out.Was, was = c.was.values, c.was.row
	}
	if c.is != nil {
		out.Values, is = c.is.values, c.is.row
	}
	if g.kind != svc.ExportRow {
		out.Key = id
		return out
	}
	out.Row = valuesOf(cmp.Or(was, is).Key)
	if !g.silent {
		out.SQL = rowsql.Guarded(g.table, was, is)
	}
	return out
}
