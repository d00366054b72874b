package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

// ErrNoHistory says that no point of the version is kept at or before a time.
var ErrNoHistory = errors.New("no point at or before this time is kept")

// moment is a place in the history of a version: the epoch of the owner comes first.
type moment struct {
	epoch uint64
	ms    int64
}

func (m moment) compare(o moment) int {
	return cmp.Or(cmp.Compare(m.epoch, o.epoch), cmp.Compare(m.ms, o.ms))
}

// line is the history of one database, and when each entry was made.
type line struct {
	entries []replica.Entry
	at      []moment
}

// lineOf finds when. An owner without history writes no epoch: what it made is after every point of the
// owners before it.
func lineOf(entries []replica.Entry) line {
	l := line{entries, make([]moment, len(entries))}
	for i, e := range entries {
		epoch, _ := branch.PlaceOf(e.Place)
		l.at[i] = moment{epoch, e.Time}
		if i > 0 && epoch < l.at[i-1].epoch {
			l.at[i] = moment{l.at[i-1].epoch, math.MaxInt64}
		}
	}
	return l
}

// Point is one moment of all databases of a version.
type Point struct {
	moment
	sum uint64
}

// Time is when the point was, by the time of its owner.
func (p Point) Time() time.Time { return time.UnixMilli(p.ms) }

// Past is the history of a version, read from the object store alone.
type Past struct {
	c      Config
	stored stored
	logs   map[string]*replica.History
	lines  map[string]line
	points []Point // complete ones, in order
	hidden int     // points that a log lacks a transaction of
}

// OpenPast reads the history of a version that any process may own. keep says which points are offered: those
// that sweeps with the same setting have not begun to delete.
func OpenPast(ctx context.Context, c Config, keep branch.History) (*Past, error) {
	p := &Past{c: c, logs: map[string]*replica.History{}, lines: map[string]line{}}
	var err error
	if p.stored.manifest, err = c.Branches.Load(ctx, c.Ref); err != nil {
		return nil, err
	}
	there, err := c.Branches.Objects(ctx, c.Ref)
	if err != nil {
		return nil, err
	}
	if err := p.open(ctx, there); err != nil {
		return nil, err
	}
	now := c.now()
	kept := p.kept(keep, now)
	for name, h := range p.logs {
		p.lines[name] = lineOf(h.Entries(kept))
	}
	p.find(now.Add(-keep.Longest()))
	return p, nil
}

// now is the time of Config.Now, which may be nil.
func (c Config) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// open opens the histories of the shareable databases.
func (p *Past) open(ctx context.Context, there map[string][]objstore.Info) error {
	bases := map[string]branch.DatabaseBase{}
	if p.stored.manifest != nil {
		bases = p.stored.manifest.Databases
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(bases)), maps.Keys(there))
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), isOwn)
	opened := make([]*replica.History, len(names))
	work, ctx := errgroup.WithContext(ctx)
	for i, name := range names {
		c := replica.HistoryConfig{
			Bucket: p.c.Bucket, Prefix: branch.DatabasePrefix(p.c.Ref, name), Listing: there[name], Keep: p.c.Branches.Keep(),
		}
		if base, ok := bases[name]; ok {
			c.Base = &base
		}
		work.Go(func() (err error) {
			opened[i], err = replica.OpenHistory(ctx, c)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("open history of %s: %w", p.c.Ref, err)
	}
	for i, name := range names {
		p.logs[name] = opened[i]
	}
	return nil
}

// kept are the history objects whose points are kept.
func (p *Past) kept(keep branch.History, now time.Time) map[string]bool {
	set := branch.HistorySet{Keep: keep}
	for _, h := range p.logs {
		set.Objects = append(set.Objects, h.Packs...)
		set.Data += h.DataSize()
	}
	return set.Kept(now)
}

// find finds the complete points that are not before a time.
func (p *Past) find(since time.Time) {
	var all []Point
	for _, l := range p.lines {
		for _, e := range l.entries {
			epoch, sum := branch.PlaceOf(e.Place)
			if sum != 0 && e.Time >= since.UnixMilli() {
				all = append(all, Point{moment{epoch, e.Time}, sum})
			}
		}
	}
	slices.SortFunc(all, func(a, b Point) int { return cmp.Or(a.compare(b.moment), cmp.Compare(a.sum, b.sum)) })
	for _, point := range slices.Compact(all) {
		if _, sum := p.at(point.moment); sum == point.sum {
			p.points = append(p.points, point)
		} else {
			p.hidden++
		}
	}
}

// at are the newest transactions of all databases at a moment, and their sum as branch.Place has it.
func (p *Past) at(m moment) (txids map[string]uint64, sum uint64) {
	txids = map[string]uint64{}
	for name, l := range p.lines {
		if p.stored.manifest != nil {
			txids[name] = p.stored.manifest.Databases[name].TXID
		}
		if i := sort.Search(len(l.at), func(i int) bool { return l.at[i].compare(m) > 0 }); i > 0 {
			txids[name] = l.entries[i-1].Max
		}
		sum += txids[name]
	}
	_, sum = branch.PlaceOf(branch.Place(0, sum))
	return txids, sum
}

// Points are the complete points, oldest first.
func (p *Past) Points() []Point { return p.points }

// Hidden is how many points are not offered because a log lacks a transaction: with a lost machine, or
// because a sparser tier does not have the moment in all databases.
func (p *Past) Hidden() int { return p.hidden }

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
	for i := len(p.points) - 1; i >= 0; i-- {
		point := p.points[i]
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
