package replica

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// Policy configures when Compact merges. The zero value is the default.
type Policy struct {
	// Files of one level are merged into one of the next level when there are this
	// many: 32 when 0. At most 64 are merged into one.
	Files int
	// SnapshotRatio: Compact makes a full image when the own files since the last one
	// are larger than it by this factor: 1 when 0. A child that writes little never
	// copies its parent.
	SnapshotRatio float64
	// MaxPlan merges further, until a restore plan has at most this many files, for
	// archiving; fewer than 16 may not be reachable. With 0 a plan has about 3 x Files
	// files for a root, and as many more for ancestors.
	MaxPlan int
	// Pause is a pause for each half MiB that a merge reads, which leaves the processor
	// to requests.
	Pause time.Duration
}

const (
	maxInputs = 64
	topMerged = 4 // the usual highest level of merged files
)

// Result is the result of Compact.
type Result struct {
	Written    []branch.File
	Superseded []string // keys of own files that no plan needs any more, for branch.Store.MarkDead
}

// Compact merges files of the log into wider ones. It reads the object store, never the
// local database, and may run concurrently with Append. When ctx ends it stops; the
// files written until then are valid. Merging is idempotent: two owners that merge the
// same files make the same objects.
func (l *Log) Compact(ctx context.Context, p Policy) (Result, error) {
	l.compacting.Lock()
	defer l.compacting.Unlock()
	p.Files = min(cmp.Or(p.Files, 32), maxInputs)
	p.SnapshotRatio = cmp.Or(p.SnapshotRatio, 1)
	var res Result
	err := l.Fenced()
	var packErr error
	if err == nil && l.past != nil { // merges continue after a failure, and level 0 stays
		packErr = l.pack(ctx, p)
	}
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
	return res, errors.Join(err, packErr)
}

// nextMerge returns the next merge that is due, nil for none.
func (l *Log) nextMerge(p Policy) (inputs []branch.File, level int) {
	l.mu.Lock()
	own := slices.Clone(l.own)
	l.mu.Unlock()
	c := coverOf(own)
	for level := range topMerged {
		if run := c.run(level, l.base.TXID); len(run) >= max(p.Files, 2) {
			return run[:min(len(run), maxInputs)], level + 1
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

// newestPlan is the plan of the newest transaction; nil when none can be merged.
func (l *Log) newestPlan(own []branch.File) []branch.File {
	all := slices.Concat(l.base.Files, own)
	end, _ := branch.Position(all)
	plan, err := branch.Plan(all, end)
	if err != nil {
		return nil // cannot happen: Open verified the log, and an append keeps it complete
	}
	return plan
}

// imageDue reports whether a full image is due, by the bytes of own files after the
// newest one.
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

// foldBase merges a long tail of ancestors' files into one file of this log, which ends
// with the fork, so that plans stay short after many generations.
func (l *Log) foldBase(plan []branch.File, limit int) (inputs []branch.File, level int) {
	var tail []branch.File
	for i, f := range plan {
		if i > 0 && f.Max <= l.base.TXID {
			tail = append(tail, f)
		}
	}
	if len(tail) <= limit {
		return nil, 0
	}
	inputs, level = tail[len(tail)-min(len(tail), maxInputs):], topMerged
	for _, f := range inputs {
		if f.Prefix == l.prefix { // merged before: the wider file supersedes it
			level = max(level, f.Level+1)
		}
	}
	return inputs, min(level, branch.SnapshotLevel-1)
}

// squeeze merges any two neighbors of a level, low levels first, then ancestors' files,
// then all.
func (l *Log) squeeze(c *cover, plan []branch.File) (inputs []branch.File, level int) {
	for level := range branch.SnapshotLevel - 1 {
		if run := c.run(level, l.base.TXID); len(run) > 1 {
			return run[:min(len(run), maxInputs)], level + 1
		}
	}
	if inputs, level := l.foldBase(plan, 1); inputs != nil {
		return inputs, level
	}
	return nil, 0
}

// superseded returns the superseded keys that it has not returned before. It removes
// files that plans no longer use from the index, since they may be deleted.
func (l *Log) superseded() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := coverOf(l.own)
	var keys []string
	for _, f := range l.own {
		if _, over := c.since(f); over && !l.unpacked(f) && !l.reported[f.Key()] {
			l.reported[f.Key()] = true
			keys = append(keys, f.Key())
		}
	}
	l.own = slices.DeleteFunc(l.own, func(f branch.File) bool {
		since, over := c.since(f)
		return over && !l.unpacked(f) && time.Since(since) > l.keep
	})
	return keys
}

// errMoved says that the inputs of a merge do not follow each other.
var errMoved = errors.New("the merged files do not follow each other")
