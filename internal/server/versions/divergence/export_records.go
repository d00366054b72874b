package divergence

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// fields are the columns of a row by name.
type fields map[string]rowdiff.Value

func (f fields) text(name string) string {
	s, _ := f[name].(string)
	return s
}

func (f fields) integer(name string) int64 {
	n, _ := f[name].(int64)
	return n
}

func (f fields) bytes(name string) []byte {
	b, _ := f[name].([]byte)
	return b
}

// time is a column that has milliseconds since 1970.
func (f fields) time(name string) time.Time { return time.UnixMilli(f.integer(name)).UTC() }

// read returns the fields of a row; nil for one that does not exist.
func (e *export) read(sql string, r *rowdiff.Record) (fields, error) {
	if r == nil {
		return nil, nil // it does not exist
	}
	columns, err := e.tables.Columns(sql, *r)
	if err != nil {
		return nil, err
	}
	f := make(fields, len(columns))
	for _, c := range columns {
		f[c.Name] = c.Value
	}
	return f, nil
}

// readNames reads the names of namespaces, buckets and queues.
func (e *export) readNames(ctx context.Context, states ...branch.DatabaseBase) error {
	e.names = map[string]map[int64]string{}
	for _, t := range e.c.deps.Tables {
		if t.Owners != "" {
			e.names[t.Owners] = map[int64]string{}
		}
	}
	only := func(table string) bool { return e.names[table] != nil }
	for _, state := range states {
		r, err := e.c.rows(ctx, branch.DatabaseBase{}, state, only, func(r rowdiff.Row) error {
			f, err := e.read(r.NowSQL, r.Now)
			if err == nil {
				e.names[r.Table][f.integer("id")] = f.text("name")
			}
			return err
		})
		if err == nil && r.AtLeast {
			err = e.limited()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// place identifies a record of the shared database.
type place struct{ resource, key string }

// placeOf returns the place of a row; nothing for a row that does not exist.
func (e *export) placeOf(t binding.Table, f fields) (p place, err error) {
	if f == nil {
		return p, nil
	}
	name, found := e.names[t.Owners][f.integer(t.Column)]
	if !found {
		return p, fmt.Errorf("%s: no row of %s has the id %d: %w", t.Name, t.Owners, f.integer(t.Column), rowdiff.ErrCorrupt)
	}
	return place{name, f.text("key")}, nil
}

// record writes a row of the shared database: as deleted, or as written.
func (e *export) record(ctx context.Context, deletes bool, r rowdiff.Row) error {
	was, err := e.read(r.BaseSQL, r.Base)
	if err != nil {
		return err
	}
	is, err := e.read(r.NowSQL, r.Now)
	if err != nil {
		return err
	}
	table, ok := e.c.table(r.Table)
	if !ok { // of parts: the comparison reads no other tables
		e.remember(is)
		return nil
	}
	from, err := e.placeOf(table, was)
	if err != nil {
		return err
	}
	to, err := e.placeOf(table, is)
	if err != nil {
		return err
	}
	// The engine gives the id of a deleted row to a new one.
	if deletes && was != nil && from != to {
		return e.send(svc.ExportRecord{Kind: table.Record, Resource: from.resource, Op: svc.ExportDelete, Key: from.key})
	}
	if deletes || is == nil {
		return nil
	}
	out := svc.ExportRecord{Kind: table.Record, Resource: to.resource, Op: svc.ExportInsert, Key: to.key}
	if from == to {
		out.Op = svc.ExportUpdate
	}
	return e.written(ctx, table, out, is)
}

// written writes a record with its values.
func (e *export) written(ctx context.Context, t binding.Table, out svc.ExportRecord, f fields) error {
	if t.Record == svc.ExportObject {
		return e.object(ctx, out, f)
	}
	values, err := e.values(t, f)
	if err != nil {
		return err
	}
	out.Values = values
	return e.send(out)
}

// values returns the values of a record, without the body of an object.
func (e *export) values(t binding.Table, f fields) (map[string]any, error) {
	switch t.Record { //nolint:exhaustive // tables have records of three kinds
	case svc.ExportMessage:
		return e.message(t, f), nil
	case svc.ExportObject:
		return objectValues(f)
	}
	values := map[string]any{"value": text(f.bytes("value"))}
	if f["expiration"] != nil {
		values["expiration"] = f.integer("expiration")
	}
	if m := stored(f["metadata"]); m != nil {
		values["metadata"] = m
	}
	return values, nil
}

// message returns the values of a message.
func (e *export) message(t binding.Table, f fields) map[string]any {
	values := map[string]any{
		"content_type": f.text("type"), "sent_at": f.time("sent"), "due_at": f.time("due"), "attempts": f.integer("attempts"),
		"body": encoded(f.bytes("body")),
	}
	if kind := f.text("type"); kind == "json" || kind == "text" {
		values["body"] = text(f.bytes("body"))
	}
	if origin, found := e.names[t.Owners][f.integer("origin")]; found && f["origin"] != nil {
		values["dead_letter_of"] = origin
	}
	return values
}
