package dataplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// PastCut is what a child begins with that is forked in the past.
type PastCut struct {
	Databases map[string]branch.Cut
	At        time.Time // of the point
	Of        svc.Ref   // whose point it is: the version's, or an ancestor's before the version was forked
}

// Begins is where the past of the version begins: its oldest point, or its fork, and the version that it was
// forked from.
func (p *Past) Begins() (parent svc.Ref, at time.Time) {
	if m := p.stored.manifest; m != nil {
		return m.Parent, m.At
	}
	if len(p.points) == 0 {
		return svc.Ref{}, time.Time{}
	}
	return svc.Ref{}, p.points[0].Time()
}

// Cut is Own, and before the version was forked a cut of its parent.
func (p *Past) Cut(ctx context.Context, t time.Time, keep branch.History) (PastCut, error) {
	cut, err := p.Own(ctx, t)
	m := p.stored.manifest
	if !errors.Is(err, ErrNoHistory) || m == nil {
		return cut, err
	}
	up := p.c
	up.Ref = m.Parent
	parent, err := OpenPast(ctx, up, keep)
	if err != nil {
		return PastCut{}, err
	}
	return parent.Cut(ctx, t, keep)
}

// Own cuts at the newest point of the version at or before t, before the first of them at its fork. It returns
// ErrNoHistory before that.
func (p *Past) Own(ctx context.Context, t time.Time) (PastCut, error) {
	for _, point := range slices.Backward(p.points) {
		if point.Time().After(t) {
			continue
		}
		txids, _ := p.at(point.moment)
		cuts, err := p.cutAt(ctx, txids)
		if errors.Is(err, branch.ErrNotRestorable) {
			continue // of before history was on
		}
		return PastCut{cuts, point.Time(), p.c.Ref}, err
	}
	if m := p.stored.manifest; m != nil && !t.Before(m.At) {
		return PastCut{kinds(shared(m.Databases)), m.At, p.c.Ref}, nil
	}
	return PastCut{}, ErrNoHistory
}

func (p *Past) cutAt(ctx context.Context, txids map[string]uint64) (map[string]branch.Cut, error) {
	cuts := map[string]branch.Cut{}
	if p.stored.manifest != nil {
		cuts = shared(p.stored.manifest.Databases)
	}
	for name, txid := range txids {
		if base, inherited := cuts[name]; txid == 0 || inherited && base.TXID == txid {
			continue
		}
		cut, err := p.logs[name].Cut(ctx, txid)
		if err != nil {
			return nil, fmt.Errorf("cut %s of %s at %d: %w", name, p.c.Ref, txid, err)
		}
		cuts[name] = cut
	}
	return kinds(cuts), nil
}
