package branch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrNotRestorable says that no set of the given files restores a transaction.
var ErrNotRestorable = errors.New("transaction is not restorable")

// Plan selects the files that, applied in order, restore the database right after
// txid: the newest full image, then always the file that reaches furthest. It is
// the shortest such list. It is empty for txid 0, an empty database. It returns
// ErrNotRestorable when the log has a hole before txid.
func Plan(files []File, txid uint64) ([]File, error) {
	if txid == 0 {
		return nil, nil
	}
	usable := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.Max > txid })
	plan := newestImage(usable)
	slices.SortFunc(usable, func(a, b File) int { return cmp.Compare(a.Min, b.Min) })
	at := reach(plan)
	for i := 0; at < txid; {
		best := -1
		for ; i < len(usable) && usable[i].Min <= at+1; i++ {
			if usable[i].Max > at && (best < 0 || better(usable[i], usable[best])) {
				best = i
			}
		}
		if best < 0 {
			return nil, fmt.Errorf("transaction %d: %w: the log is complete up to %d", txid, ErrNotRestorable, at)
		}
		plan = append(plan, usable[best])
		at = usable[best].Max
	}
	return plan, nil
}

// newestImage returns the newest full image, if any.
func newestImage(files []File) []File {
	var best []File
	for _, f := range files {
		if f.Level == SnapshotLevel && (best == nil || f.Max > best[0].Max) {
			best = []File{f}
		}
	}
	return best
}

// better reports whether a is the better next file: it reaches further, then it
// repeats fewer transactions, then it is more compacted.
func better(a, b File) bool {
	return cmp.Or(cmp.Compare(a.Max, b.Max), cmp.Compare(a.Min, b.Min), cmp.Compare(a.Level, b.Level)) > 0
}

func reach(plan []File) uint64 {
	if len(plan) == 0 {
		return 0
	}
	return plan[len(plan)-1].Max
}

// Position is the newest transaction up to which files have no hole, 0 for none;
// hole reports whether a file lies beyond it.
func Position(files []File) (txid uint64, hole bool) {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int { return cmp.Compare(a.Min, b.Min) })
	for _, f := range sorted {
		if f.Min > txid+1 {
			return txid, true
		}
		txid = max(txid, f.Max)
	}
	return txid, false
}
