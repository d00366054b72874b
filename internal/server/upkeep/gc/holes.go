package gc

import (
	"cmp"
	"slices"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// holes reports history objects that are missing between others. Sweeps delete the oldest ones, and the
// tiers end together, so what is left has no hole.
func (c databaseCheck) holes(list []branch.Hist) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b branch.Hist) int { return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(b.Max, a.Max)) })
	var end uint64
	for i, h := range list {
		if i > 0 && h.Min > end+1 && !h.First {
			c.add(svc.CodeHistoryHole, c.name, h.Key(), "history objects before it are missing: points of that time cannot be restored")
			return
		}
		end = max(end, h.Max)
	}
}
