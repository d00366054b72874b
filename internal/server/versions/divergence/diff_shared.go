package divergence

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// named are the names of namespaces, buckets and queues in one state, by their table and id.
type named = map[string]map[int64]string

// shared compares keys, objects and messages. Each version gives ids to its namespaces, buckets and
// queues: where an id has another name in the other state, equal rows are different records.
func (d *diff) shared(ctx context.Context, p *pair, h *held) error {
	was, is, err := d.bothNames(ctx, p)
	if err != nil {
		return err
	}
	h.twice = true
	return d.compare(ctx, p, selection{
		only: func(table string) bool { _, ok := d.second.table(table); return ok },
		every: func(table string) bool {
			t, _ := d.second.table(table)
			return renamed(was[t.Owners], is[t.Owners])
		},
		row: func(r rowdiff.Row) error {
			t, _ := d.second.table(r.Table)
			old, err := d.sharedSide(t, r.BaseSQL, r.Base, was)
			if err != nil {
				return err
			}
			here, err := d.sharedSide(t, r.NowSQL, r.Now, is)
			if err != nil {
				return err
			}
			return h.add(old, here, false)
		},
	})
}

func (d *diff) bothNames(ctx context.Context, p *pair) (was, is named, err error) {
	if was, err = d.names(ctx, p, true); err != nil {
		return nil, nil, err
	}
	is, err = d.names(ctx, p, false)
	return was, is, err
}

// names reads the names of one state.
func (d *diff) names(ctx context.Context, p *pair, first bool) (named, error) {
	names := named{}
	state := p.is
	if first {
		state = p.was
	}
	for _, t := range d.second.deps.Tables {
		if t.Owners == "" {
			continue
		}
		names[t.Owners] = map[int64]string{}
		only := func(table string) bool { return table == t.Owners }
		err := d.all(ctx, state, only, func(f fields) error {
			names[t.Owners][f.integer("id")] = f.text("name")
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// renamed reports whether an id has another name in the other state.
func renamed[V comparable](was, is map[int64]V) bool {
	for id, name := range was {
		if other, ok := is[id]; ok && other != name {
			return true
		}
	}
	return false
}

// fieldsOf passes the fields of the rows that a state has.
func (d *diff) fieldsOf(row func(fields) error) rowFunc {
	return func(r rowdiff.Row) error {
		f, err := d.export.read(r.NowSQL, r.Now)
		if err != nil || f == nil {
			return err
		}
		return row(f)
	}
}

// sharedSide is a record in one state; nil for one that does not exist. A key that has expired does
// not exist: no worker reads it.
func (d *diff) sharedSide(t binding.Table, sql string, r *rowdiff.Record, names named) (*side, error) {
	f, err := d.export.read(sql, r)
	if err != nil || f == nil {
		return nil, err
	}
	if t.Record == svc.ExportKey && f["expiration"] != nil && f.integer("expiration") <= d.now.Unix() {
		return nil, nil // see above
	}
	d.export.names = names
	at, err := d.export.placeOf(t, f)
	if err != nil {
		return nil, err
	}
	values, err := d.export.values(t, f)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(compared(values))
	if err != nil {
		return nil, err
	}
	one := &side{group: group{kind: t.Record, resource: at.resource}, id: at.key, sum: sha256.Sum256(content)}
	if d.o.Rows {
		one.values, one.size = values, len(content)
	}
	return one, nil
}

// compared are the values without those that differ between equal objects.
func compared(values map[string]any) map[string]any {
	if _, ok := values["uploaded_at"]; !ok {
		return values
	}
	values = maps.Clone(values)
	delete(values, "uploaded_at")
	return values
}
