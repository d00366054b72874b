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
		return b, nil
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
