package divergence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

var (
	errUnrelated = errors.New("no version is an ancestor of both")
	errLost      = errors.New("the fork is not in the object store any more")
)

// base is where the data of two versions began to differ.
type base struct {
	common    string
	at        time.Time
	databases map[string]branch.DatabaseBase
	instances branch.DatabaseBase // see moved
}

// baseOf finds the base of production and target, in one of three shapes: target descends
// from production, production from target, or both from a third version. With two forks
// of that version, the earlier one counts: all that production wrote after it is
// production's alone.
func (c *comparison) baseOf(ctx context.Context, target svc.Ref) (b base, err error) {
	ours, err := c.lineage(ctx, c.production)
	if err != nil {
		return b, err
	}
	theirs, err := c.lineage(ctx, target)
	if err != nil {
		return b, err
	}
	for i, v := range theirs {
		j := slices.Index(ours, v)
		if j < 0 {
			continue
		}
		b.common = v.Version
		for _, child := range slices.Concat(below(theirs, i), below(ours, j)) {
			m, err := c.deps.Records.Load(ctx, child)
			if err != nil {
				return b, err
			}
			if m == nil || m.Parent != v {
				return b, fmt.Errorf("fork of %s to %s: %w", v, child, errLost)
			}
			b.add(m)
		}
		b.instances, err = c.moved(ctx, b, slices.Concat(theirs[:max(i-1, 0)], ours[:max(j-1, 0)]))
		return b, err
	}
	return b, errUnrelated
}

// below returns the member of a lineage that was forked from the i-th one, if any.
func below(lineage []svc.Ref, i int) []svc.Ref {
	if i == 0 {
		return nil
	}
	return lineage[i-1 : i]
}

// moved returns the own database of workflows where it began to differ; the zero base if one of the
// two versions has not inherited it: a release moves it, and each other fork leaves it behind. later
// are the versions of both lineages whose forks add has not seen.
func (c *comparison) moved(ctx context.Context, b base, later []svc.Ref) (at branch.DatabaseBase, err error) {
	own := c.deps.workflows().Database
	at, ok := b.databases[own]
	if !ok {
		return at, nil
	}
	for _, child := range later {
		m, err := c.deps.Records.Load(ctx, child)
		if err != nil || m == nil {
			return branch.DatabaseBase{}, err
		}
		if _, ok := m.Databases[own]; !ok {
			return branch.DatabaseBase{}, nil
		}
	}
	return at, nil
}

// add adds a fork of the common version. A database that only one fork has was created
// after the other.
func (b *base) add(m *branch.Manifest) {
	if b.databases == nil {
		b.at, b.databases = m.At, m.Databases
		return
	}
	if m.At.Before(b.at) {
		b.at = m.At
	}
	earlier := map[string]branch.DatabaseBase{}
	for name, one := range b.databases {
		other, both := m.Databases[name]
		switch {
		case both && other.TXID < one.TXID:
			earlier[name] = other
		case both:
			earlier[name] = one
		}
	}
	b.databases = earlier
}

// lineage is a version and the versions whose data it inherited, nearest first.
func (c *comparison) lineage(ctx context.Context, ref svc.Ref) (list []svc.Ref, err error) {
	for {
		v, err := c.deps.Registry.Version(ctx, ref)
		if err != nil {
			return nil, err
		}
		list = append(list, ref)
		parent := v.ForkedFrom()
		ref.Version = parent
		if parent == "" || slices.Contains(list, ref) {
			return list, nil
		}
	}
}
