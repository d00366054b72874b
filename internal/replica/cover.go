package replica

import (
	"cmp"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
)

// cover tells which files of a log are superseded: by a wider one of a higher
// level, or by a newer full image. The newest level 0 file never is: it tells
// readers the position.
type cover struct {
	levels [branch.SnapshotLevel][]branch.File // by Min
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
	for _, files := range c.levels {
		slices.SortFunc(files, func(a, b branch.File) int { return cmp.Compare(a.Min, b.Min) })
	}
	return c
}

// since tells whether f is superseded, and when its first successor came.
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
	for level := f.Level + 1; level < branch.SnapshotLevel; level++ {
		files := c.levels[level]
		i, exact := slices.BinarySearchFunc(files, f.Min, func(g branch.File, lo uint64) int { return cmp.Compare(g.Min, lo) })
		if !exact {
			i--
		}
		if i >= 0 && files[i].Max >= f.Max {
			note(files[i])
		}
	}
	return at, over
}

// run gives the files of a level that are not merged yet, after the fork.
func (c *cover) run(level int, fork uint64) []branch.File {
	return slices.DeleteFunc(slices.Clone(c.levels[level]), func(f branch.File) bool {
		if level == 0 && f.Max == c.newest {
			return c.reaches(f.Max) // never superseded, yet merged once only
		}
		_, over := c.since(f)
		return over || f.Min <= fork
	})
}

// reaches tells whether a merged file ends with txid.
func (c *cover) reaches(txid uint64) bool {
	ends := func(f branch.File) bool { return f.Max >= txid }
	for _, files := range c.levels[1:] {
		if slices.ContainsFunc(files, ends) {
			return true
		}
	}
	return slices.ContainsFunc(c.images, ends)
}
