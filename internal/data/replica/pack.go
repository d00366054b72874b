package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// packBytes bounds the files of one history object, unless one file alone is larger.
const packBytes = 64 << 20

// packed is how far the history of a log is written. Compact uses it, and superseded reads end.
type packed struct {
	known   bool
	end     uint64        // the last transaction in a history object; guarded by Log.mu
	hours   uint64        // that of the hours
	minutes []branch.Hist // those after it
}

// unpacked reports whether a level 0 file must stay because the history lacks it. The caller holds mu.
func (l *Log) unpacked(f branch.File) bool {
	return l.past != nil && f.Level == 0 && f.Max > l.past.end
}

// pack writes history objects of the level 0 files that are in none: when there are as many as a merge
// takes, or, for an archive, of all. Each object has at most twice as many.
func (l *Log) pack(ctx context.Context, p Policy) error {
	if err := l.findPacked(ctx); err != nil {
		return err
	}
	least, most := p.Files, 2*p.Files
	if p.MaxPlan > 0 {
		least = 1
	}
	for {
		run, first := l.nextRun(least, most)
		if len(run) == 0 {
			return l.packHours(ctx, most, p)
		}
		if err := l.packRun(ctx, run, first, p); err != nil {
			return fmt.Errorf("write history of %s: %w", l.prefix, err)
		}
	}
}

// findPacked lists the history, once.
func (l *Log) findPacked(ctx context.Context) error {
	if l.past.known {
		return nil
	}
	found := packed{known: true, end: l.base.TXID}
	var minutes []branch.Hist
	err := eachHist(ctx, l.bucket, l.prefix, func(h branch.Hist) {
		switch h.Tier {
		case branch.TierMinutes: // written after the seconds
			found.end, minutes = max(found.end, h.Max), append(minutes, h)
		case branch.TierHours:
			found.hours = max(found.hours, h.Max)
		}
	})
	if err != nil {
		return fmt.Errorf("list history of %s: %w", l.prefix, err)
	}
	slices.SortFunc(minutes, func(a, b branch.Hist) int { return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(b.Max, a.Max)) })
	for _, h := range minutes {
		if n := len(found.minutes); h.Max > found.hours && (n == 0 || h.Max > found.minutes[n-1].Max) {
			found.minutes = append(found.minutes, h)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.past = found
	return nil
}

func eachHist(ctx context.Context, b objstore.Bucket, prefix string, do func(branch.Hist)) error {
	return objstore.Each(ctx, b, branch.HistPrefix(prefix), func(info objstore.Info) error {
		if h, ok := branch.ParseHist(info.Key); ok && h.Prefix == prefix {
			h.Size, h.Modified = info.Size, info.Modified
			do(h)
		}
		return nil
	})
}

// nextRun returns the next consecutive level 0 files to pack, and whether they do not continue the
// history. Files before a gap are packed however few they are: no file will fill it.
func (l *Log) nextRun(least, most int) (run []branch.File, first bool) {
	l.mu.Lock()
	for _, f := range l.own {
		if l.unpacked(f) {
			run = append(run, f)
		}
	}
	end := l.past.end
	l.mu.Unlock()
	slices.SortFunc(run, func(a, b branch.File) int { return cmp.Compare(a.Min, b.Min) })
	n, size := 0, int64(0)
	for n < min(len(run), most) && (n == 0 || run[n].Min == run[n-1].Max+1 && size+run[n].Size <= packBytes) {
		size += run[n].Size
		n++
	}
	if n == len(run) && n < least {
		return nil, false
	}
	return run[:n], n > 0 && run[0].Min != end+1
}

// packRun writes one object with the files, and one with the files merged by minute, unless that is the
// same. The minutes come last: they say that the seconds are there.
func (l *Log) packRun(ctx context.Context, run []branch.File, first bool, p Policy) error {
	seconds, err := l.newHist(first)
	if err != nil {
		return err
	}
	defer seconds.remove()
	for _, f := range run {
		if err := seconds.copyFile(ctx, f, p.Pause); err != nil {
			return l.gone(f, err)
		}
	}
	if seconds.points() == 0 && l.Packed() == l.base.TXID {
		l.setPacked(run[len(run)-1].Max, nil) // no history was ever recorded
		return nil
	}
	groups := groupsOf(seconds.entries, minute)
	tier := branch.TierSeconds
	if len(groups) == len(seconds.entries) {
		tier = branch.TierMinutes
	}
	h, err := seconds.put(ctx, tier)
	if err == nil && tier == branch.TierSeconds {
		h, err = l.putMerged(ctx, branch.TierMinutes, merged{first, seconds.files(), groups, p.Pause})
	}
	if err == nil {
		l.setPacked(h.Max, &h)
	}
	return err
}

// gone forgets a superseded level 0 file that was deleted before history was on.
func (l *Log) gone(f branch.File, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, over := coverOf(l.own).since(f); !over || !errors.Is(err, objstore.ErrNotExist) {
		return err
	}
	l.own = slices.DeleteFunc(l.own, func(o branch.File) bool { return o == f })
	return nil
}

// Packed is the last transaction that is in a history object, where the history begins without one.
func (l *Log) Packed() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.past == nil {
		return 0
	}
	return l.past.end
}

func (l *Log) setPacked(end uint64, minutes *branch.Hist) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.past.end = max(l.past.end, end)
	if minutes != nil {
		l.past.minutes = append(l.past.minutes, *minutes)
	}
}

// packHours merges objects of minutes by hour when there are enough. Their minutes stay until their time.
func (l *Log) packHours(ctx context.Context, enough int, p Policy) error {
	for len(l.past.minutes) >= enough {
		some := l.past.minutes[:enough]
		var files []packedFile
		for _, h := range some {
			entries, err := readHist(ctx, l.bucket, h)
			if err != nil {
				return fmt.Errorf("read history of %s: %w", l.prefix, err)
			}
			for _, e := range entries {
				files = append(files, packedFile{e, l.open(e.file(h))})
			}
		}
		entries := make([]Entry, len(files))
		for i, f := range files {
			entries[i] = f.Entry
		}
		h, err := l.putMerged(ctx, branch.TierHours, merged{some[0].First, files, groupsOf(entries, hour), p.Pause})
		if err != nil {
			return fmt.Errorf("write history of %s: %w", l.prefix, err)
		}
		l.past.hours, l.past.minutes = h.Max, slices.Clone(l.past.minutes[enough:])
	}
	return nil
}
