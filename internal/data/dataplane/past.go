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
