package replica

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
)

// Policy says when Compact merges. The zero value is the usual one.
type Policy struct {
	// Files of one level are merged to one of the next when there are so many:
	// 32 when 0. At most 64 go into one.
	Files int
	// SnapshotRatio: a full image is made when the own files since the last one
	// have more than so many times its bytes: 1 when 0. A child that writes
	// little never copies its parent.
	SnapshotRatio float64
	// MaxPlan merges further, until restoring takes at most so many files; for
	// archiving; fewer than 16 may not be reached. 0 is no bound beyond what Files gives: about 3 x Files for a
	// root, and as many more for ancestors.
	MaxPlan int
	// Pause is made for each half MiB that a merge reads, so that whoever serves
	// requests has the processor.
	Pause time.Duration
}

const (
	mostInputs = 64
	topMerged  = 4 // the highest level of merged files, as a rule
)

// Result is what Compact did.
type Result struct {
	Written    []branch.File
	Superseded []string // keys of own files that no plan needs any more; for branch.Store.Bury
}

// Compact merges files of the log into wider ones, from the store alone: it
// never reads the local database. It may run beside Append; it stops when ctx
// ends, and what it has written by then is good. Merging is idempotent: two
// owners that merge the same files make the same objects.
func (l *Log) Compact(ctx context.Context, p Policy) (Result, error) {
	l.compacting.Lock()
	defer l.compacting.Unlock()
	p.Files = min(cmp.Or(p.Files, 32), mostInputs)
	p.SnapshotRatio = cmp.Or(p.SnapshotRatio, 1)
	var res Result
	err := l.Fenced()
	for err == nil {
		inputs, level := l.nextMerge(p)
		if inputs == nil {
			break
		}
		var f branch.File
		if f, err = l.merge(ctx, inputs, level, p.Pause); err == nil {
			res.Written = append(res.Written, f)
		}
	}
	res.Superseded = l.superseded()
	return res, err
}

// nextMerge gives the next merge that is due, nil for none.
func (l *Log) nextMerge(p Policy) (inputs []branch.File, level int) {
	l.mu.Lock()
	own := slices.Clone(l.own)
	l.mu.Unlock()
	c := coverOf(own)
	for level := range topMerged {
		if run := c.run(level, l.base.TXID); len(run) >= max(p.Files, 2) {
			return run[:min(len(run), mostInputs)], level + 1
		}
	}
	plan := l.newestPlan(own)
	if image, due := l.imageDue(plan, p); due {
		return image, branch.SnapshotLevel
	}
	if inputs, level := l.foldBase(plan, p.Files); inputs != nil {
		return inputs, level
	}
	if p.MaxPlan > 0 && len(plan) > p.MaxPlan {
		return l.squeeze(c, plan)
	}
	return nil, 0
}

// newestPlan is the plan of the newest transaction; nil when there is none to merge.
func (l *Log) newestPlan(own []branch.File) []branch.File {
	all := slices.Concat(l.base.Files, own)
	end, _ := branch.Position(all)
	plan, err := branch.Plan(all, end)
	if err != nil {
		return nil // Open made sure there is one; an append in between changes nothing
	}
	return plan
}

// imageDue decides by the bytes of own files after the newest full image.
func (l *Log) imageDue(plan []branch.File, p Policy) (inputs []branch.File, due bool) {
	if len(plan) < 2 {
		return nil, false
	}
	var since int64
	for _, f := range plan[1:] {
		if f.Prefix == l.prefix {
			since += f.Size
		}
	}
	return plan, float64(since) > p.SnapshotRatio*float64(plan[0].Size)
}

// foldBase merges a long tail of ancestors' files into one of this log, which
// ends with the fork, so that a long line of descent keeps its plans short.
func (l *Log) foldBase(plan []branch.File, most int) (inputs []branch.File, level int) {
	var tail []branch.File
	for i, f := range plan {
		if i > 0 && f.Max <= l.base.TXID {
			tail = append(tail, f)
		}
	}
	if len(tail) <= most {
		return nil, 0
	}
	inputs, level = tail[len(tail)-min(len(tail), mostInputs):], topMerged
	for _, f := range inputs {
		if f.Prefix == l.prefix { // folded before: the wider one supersedes it
			level = max(level, f.Level+1)
		}
	}
	return inputs, min(level, branch.SnapshotLevel-1)
}

// squeeze merges whatever two neighbours of a level there are, low levels
// first, then ancestors' files, then all.
func (l *Log) squeeze(c *cover, plan []branch.File) (inputs []branch.File, level int) {
	for level := range branch.SnapshotLevel - 1 {
		if run := c.run(level, l.base.TXID); len(run) > 1 {
			return run[:min(len(run), mostInputs)], level + 1
		}
	}
	if inputs, level := l.foldBase(plan, 1); inputs != nil {
		return inputs, level
	}
	return nil, 0
}

// superseded gives the keys that were not given before, and forgets files that
// plans leave out, since they may be deleted by now.
func (l *Log) superseded() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := coverOf(l.own)
	var keys []string
	for _, f := range l.own {
		if _, over := c.since(f); over && !l.reported[f.Key()] {
			l.reported[f.Key()] = true
			keys = append(keys, f.Key())
		}
	}
	l.own = slices.DeleteFunc(l.own, func(f branch.File) bool {
		since, over := c.since(f)
		return over && time.Since(since) > l.keep
	})
	return keys
}

// errMoved says that the inputs of a merge are not what they were.
var errMoved = errors.New("the merged files do not follow each other")
