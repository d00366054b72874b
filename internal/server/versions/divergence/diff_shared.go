package divergence

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"

	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// named are the names of namespaces, buckets and queues in one state, by their table and id.
type named = map[string]map[int64]string

// shared compares keys, objects and messages. Each version gives ids to its namespaces, buckets and
// queues: where an id has another name in the other state, equal rows are different records.
func (d *diff) shared(ctx context.Context, p *pair, h *held) error {
	was, err := d.names(ctx, p.was)
	if err != nil {
		return err
	}
	is, err := d.names(ctx, p.is)
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

// names reads the names of one state.
func (d *diff) names(ctx context.Context, state *replica.Source) (named, error) {
	names := named{}
	for _, t := range d.second.deps.Tables {
		if t.Owners != "" {
			names[t.Owners] = map[int64]string{}
		}
	}
	only := func(table string) bool { return names[table] != nil }
	err := d.all(ctx, state, only, func(table string, f fields) error {
		names[table][f.integer("id")] = f.text("name")
		return nil
	})
	return names, err
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
	document, err := json.Marshal(compared(values))
	if err != nil {
		return nil, err
	}
	one := &side{group: group{kind: t.Record, resource: at.resource}, id: at.key, content: content{sum: sha256.Sum256(document)}}
	if d.o.Rows {
		one.values, one.size = shortened(values), min(len(document), longValue)
	}
	return one, nil
}

// longValue is how many bytes of a value of a key or a message a diff has; of a longer one it has the size and a hash.
const longValue = 64 << 10

// shortened has long values by size and hash.
func shortened(values map[string]any) map[string]any {
	for name, v := range values {
		var whole string
		switch v := v.(type) {
		case string:
			whole = v
		case map[string]string:
			whole = v["$base64"]
		}
		if len(whole) <= longValue {
			continue
		}
		content := []byte(whole)
		if _, coded := v.(map[string]string); coded {
			content, _ = base64.StdEncoding.DecodeString(whole) // encoded has made it
		}
		sum := sha256.Sum256(content)
		values[name] = map[string]any{"$bytes": len(content), "$sha256": hex.EncodeToString(sum[:])}
	}
	return values
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
