package replica

import (
	"cmp"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// cover determines which files of a log are superseded: by a wider file of the same or a
// higher level, or by a newer full image. Files of a level may overlap, when two owners,
// or one with a stale listing, merge different ranges. The newest level 0 file is never
// superseded: readers take the position from it.
type cover struct {
	levels [branch.SnapshotLevel][]branch.File // by Min
	widest [branch.SnapshotLevel][]branch.File // the file of levels[:i+1] that reaches furthest
	images []branch.File
	newest uint64 // level 0
}

func coverOf(own []branch.File) *cover {
	c := &cover{}
	for _, f := range own {
		if f.Level == branch.SnapshotLevel {
			c.images = append(c.images, f)
			continue
		}
		c.levels[f.Level] = append(c.levels[f.Level], f)
		if f.Level == 0 {
			c.newest = max(c.newest, f.Max)
		}
	}
	for level, files := range c.levels {
		slices.SortFunc(files, func(a, b branch.File) int { return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(b.Max, a.Max)) })
		for i, f := range files {
			if i > 0 && c.widest[level][i-1].Max >= f.Max {
				f = c.widest[level][i-1]
			}
			c.widest[level] = append(c.widest[level], f)
		}
	}
	return c
}

// since reports whether f is superseded, and when its first successor was written.
func (c *cover) since(f branch.File) (at time.Time, over bool) {
	if f.Level == 0 && f.Max == c.newest {
		return at, false
	}
	note := func(g branch.File) {
		if !over || g.Modified.Before(at) {
			at, over = g.Modified, true
		}
	}
	for _, g := range c.images {
		if g.Max > f.Max || g.Max == f.Max && f.Level != branch.SnapshotLevel {
			note(g)
		}
	}
	for level := f.Level; level < branch.SnapshotLevel; level++ {
		// The first file that begins after f; only those before it can cover f.
		i, _ := slices.BinarySearchFunc(c.levels[level], f.Min+1, func(g branch.File, lo uint64) int { return cmp.Compare(g.Min, lo) })
		if i > 0 && c.widest[level][i-1].Max >= f.Max && c.widest[level][i-1] != f {
			note(c.widest[level][i-1])
		}
	}
	return at, over
}

// run returns the longest run of consecutive files of a level that are not merged yet
// and lie after the fork.
func (c *cover) run(level int, fork uint64) []branch.File {
	open := slices.DeleteFunc(slices.Clone(c.levels[level]), func(f branch.File) bool {
		if level == 0 && f.Max == c.newest {
			return c.reaches(f.Max) // never superseded, but merged only once
		}
		_, over := c.since(f)
		return over || f.Min <= fork
	})
	var best []branch.File
	for from, i := 0, 1; i <= len(open); i++ {
		if i < len(open) && open[i].Min <= open[i-1].Max+1 {
			continue
		}
		if i-from > len(best) {
			best = open[from:i]
		}
		from = i
	}
	return best
}

// reaches reports whether a merged file ends with txid.
func (c *cover) reaches(txid uint64) bool {
	ends := func(f branch.File) bool { return f.Max >= txid }
	for _, files := range c.levels[1:] {
		if slices.ContainsFunc(files, ends) {
			return true
		}
	}
	return slices.ContainsFunc(c.images, ends)
}
