package divergence

import (
	"context"
	"errors"
	"maps"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/rowdiff"
)

// pair is one database in both states, open.
type pair struct {
	was, is *replica.Source
	equal   bool // no page differs
}

// states returns the files of both states. Pages that both have from before the fork are known to be
// equal.
func (d *diff) states(ctx context.Context) (was, is map[string]branch.Cut, err error) {
	if d.o.With == "" {
		m, err := d.first.deps.Records.Load(ctx, d.o.Ref)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			d.base = base{common: m.Parent.Version, at: m.At, databases: m.Databases}
		}
		is, err = d.second.read(ctx, d.base)
		return d.base.databases, is, err
	}
	d.base, err = d.second.baseOf(ctx, d.o.Ref)
	if errors.Is(err, errUnrelated) || errors.Is(err, errLost) {
		d.second.out.Reason, d.base, err = reason(err), base{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if was, err = d.first.read(ctx, d.base); err != nil {
		return nil, nil, err
	}
	is, err = d.second.read(ctx, d.base)
	return was, is, err
}

// open opens the databases of both states, and refuses what would read too much.
func (d *diff) open(ctx context.Context, was, is map[string]branch.Cut) error {
	names := map[string]bool{}
	for name := range maps.Keys(was) {
		names[name] = true
	}
	for name := range maps.Keys(is) {
		names[name] = true
	}
	pages := 0
	for name := range names {
		if !d.wants(name) {
			continue
		}
		p, err := d.pair(ctx, name, was[name], is[name])
		if err != nil {
			_, err = d.second.late(ctx, err)
			return err
		}
		d.pairs[name] = p
		n := p.differ()
		p.equal = n == 0
		pages += n
	}
	if pages > d.second.pages && d.o.Table == "" {
		return d.tooLarge()
	}
	return nil
}

// pair opens a database in both states. Each is read from the files of the fork and those after it if
// they are still stored, never from a newer image: then the pages that none wrote are shared.
func (d *diff) pair(ctx context.Context, name string, was, is branch.DatabaseBase) (p *pair, err error) {
	p = &pair{}
	from := d.base.databases[name]
	if p.was, err = d.first.stored(ctx, name, from, was); err != nil {
		return nil, err
	}
	p.is, err = d.second.stored(ctx, name, from, is)
	return p, err
}

// stored opens a database of a version.
func (c *comparison) stored(ctx context.Context, name string, from, now branch.DatabaseBase) (*replica.Source, error) {
	if files := c.since(name, from, now); files != nil {
		if s, err := c.source(ctx, branch.Cut{Files: files, TXID: now.TXID}); err == nil || ctx.Err() != nil {
			return s, err
		}
	}
	return c.source(ctx, now)
}

// differ is how many pages are not known to be equal.
func (p *pair) differ() (n int) {
	both := min(p.was.Pages(), p.is.Pages())
	for pgno := uint32(1); pgno <= both; pgno++ {
		if !p.is.Same(p.was, pgno) {
			n += 2
		}
	}
	return n + int(max(p.was.Pages(), p.is.Pages())-both)
}

// compare compares a database, within the limits of the diff.
func (d *diff) compare(ctx context.Context, p *pair, of selection) error {
	r, err := d.second.images(ctx, p.was, p.is, of)
	if err == nil && r.AtLeast {
		err = d.tooLarge()
	}
	return err
}

// all passes the rows of tables in one state.
func (d *diff) all(ctx context.Context, state *replica.Source, only func(string) bool, row func(table string, f fields) error) error {
	none, err := d.second.source(ctx, branch.DatabaseBase{})
	if err != nil {
		return err
	}
	return d.compare(ctx, &pair{was: none, is: state}, selection{only: only, row: func(r rowdiff.Row) error {
		f, err := d.export.read(r.NowSQL, r.Now)
		if err != nil || f == nil {
			return err
		}
		return row(r.Table, f)
	}})
}
