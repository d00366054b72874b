package divergence

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/svc"
)

// database compares one database.
func (d *diff) database(ctx context.Context, name string, p *pair) error {
	if p.equal {
		return nil
	}
	h := &held{groups: map[group]*records{}, rows: d.o.Rows, limit: d.first.deps.DiffBytes}
	switch name {
	case volume.SharedDatabase:
		if err := d.shared(ctx, p, h); err != nil {
			return err
		}
	case durable.Database:
		if err := d.objects(ctx, p, h); err != nil {
			return err
		}
	default:
		return d.user(ctx, strings.TrimPrefix(name, volume.UserPrefix), p, h)
	}
	return d.send(h)
}

// user compares a D1 database. Tables come before their rows, and what may prevent a row after it:
// indexes, triggers and views.
func (d *diff) user(ctx context.Context, database string, p *pair, h *held) error {
	s, err := d.schema(ctx, database, p)
	if err != nil {
		return err
	}
	if err := d.sendAll(s.before); err != nil {
		return err
	}
	only := func(table string) bool { return d.ofTable(table) && !s.derived(table) }
	err = d.compare(ctx, p, selection{only: only, row: func(r rowdiff.Row) error {
		if err := d.row(database, r, s, h); err != nil {
			return fmt.Errorf("table %s: %w", r.Table, err)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	if err := d.send(h); err != nil {
		return err
	}
	return d.sendAll(s.after)
}

// ofTable reports whether a table of D1 is part of the diff.
func (d *diff) ofTable(table string) bool {
	return !isOwn(table) && (d.o.Table == "" || strings.EqualFold(table, d.o.Table))
}

// row keeps a row of D1.
func (d *diff) row(database string, r rowdiff.Row, s *schemas, h *held) error {
	g := group{kind: svc.ExportRow, resource: database, table: r.Table, silent: r.NowSQL == "" || s.shadow(r.Table)}
	was, err := d.rowSide(g, r.BaseSQL, r.Base)
	if err != nil {
		return err
	}
	is, err := d.rowSide(g, r.NowSQL, r.Now)
	if err != nil {
		return err
	}
	placed, err := d.placed(r)
	if err != nil {
		return err
	}
	return h.add(was, is, placed)
}

// placed reports whether rows with one key have one place in both states.
func (d *diff) placed(r rowdiff.Row) (bool, error) {
	if r.BaseSQL == "" || r.NowSQL == "" {
		return true, nil
	}
	was, err := d.export.tables.Placed(r.BaseSQL)
	if err != nil {
		return false, err
	}
	is, err := d.export.tables.Placed(r.NowSQL)
	return was != "" && was == is, err
}

// rowSide is a row in one state; nil for one that does not exist.
func (d *diff) rowSide(g group, sql string, r *rowdiff.Record) (*side, error) {
	if r == nil {
		return nil, nil // it does not exist
	}
	state, err := d.export.tables.State(sql, *r)
	if err != nil {
		return nil, err
	}
	text := state.Content()
	one := &side{group: g, id: state.ID, content: content{sum: sha256.Sum256([]byte(text))}}
	if d.o.Rows {
		one.row, one.values, one.size = &state, valuesOf(state.Values), len(text)
	}
	return one, nil
}
