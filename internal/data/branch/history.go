package branch

import (
	"cmp"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// History is how long points of the past are kept.
type History = svc.History

const leastHistory = 1 << 30 // bytes, see History.MaxSize

// HistorySet is what the store has of the history of one version.
type HistorySet struct {
	Keep    History
	Objects []Hist
	Data    int64 // bytes of the files that restore its databases
}

// Kept returns the keys of the objects whose points are kept at a time, by their age and then by their
// size: the densest tier loses its oldest points first. Objects that were stored later are kept and change
// nothing, so that a sweep can ask what was not kept a while ago.
func (s HistorySet) Kept(at time.Time) map[string]bool {
	kept, list := map[string]bool{}, []Hist(nil)
	hours := s.hours(at)
	for _, h := range s.Objects {
		switch {
		case h.Modified.After(at):
			kept[h.Key()] = true
		case at.Before(s.ends(h, hours)):
			list = append(list, h)
		}
	}
	left := cmp.Or(s.Keep.MaxSize, max(leastHistory, 3*s.Data))
	slices.SortFunc(list, func(a, b Hist) int {
		return cmp.Or(cmp.Compare(rank(a.Tier), rank(b.Tier)), cmp.Compare(b.To, a.To), cmp.Compare(a.Key(), b.Key()))
	})
	for _, h := range list {
		if left -= h.Size; left < 0 {
			break
		}
		kept[h.Key()] = true
	}
	return kept
}

func rank(tier string) int {
	switch tier {
	case TierHours:
		return 0
	case TierMinutes:
		return 1
	}
	return 2
}

// hours is up to which transaction each database had its hours.
func (s HistorySet) hours(at time.Time) map[string]uint64 {
	end := map[string]uint64{}
	for _, h := range s.Objects {
		if h.Tier == TierHours && !h.Modified.After(at) {
			end[h.Prefix] = max(end[h.Prefix], h.Max)
		}
	}
	return end
}

// ends is when the points of h are not kept any more. A sparser tier may have no object of its own: one
// with minutes is the only one while its hours are not written, and where the seconds would equal it.
func (s HistorySet) ends(h Hist, hours map[string]uint64) time.Time {
	keep := s.Keep.Seconds
	if h.Tier != TierSeconds {
		keep = max(keep, s.Keep.Minutes)
	}
	if h.Tier == TierHours || h.Tier == TierMinutes && h.Max > hours[h.Prefix] {
		keep = max(keep, s.Keep.Hours)
	}
	return time.UnixMilli(h.To).Add(keep)
}
