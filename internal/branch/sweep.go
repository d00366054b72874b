package branch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Object is one log file in a Report.
type Object struct {
	Version  svc.Ref
	Key      string
	Size     int64
	PinnedBy []svc.Ref     // who else needs it, when it is pinned
	Left     time.Duration // of the grace, when it waits
}

// Report is what a sweep did, or would do.
type Report struct {
	Gone    []Object         // deleted; with dry run: would be
	Waiting []Object         // unwanted, within the grace
	Pinned  []Object         // their own version does not need them, others do
	Removed []svc.Ref        // destroyed versions of which nothing is left
	Broken  map[string]error // versions left alone, and why
}

// Bytes adds up the sizes of objects.
func Bytes(objects []Object) (n int64) {
	for _, o := range objects {
		n += o.Size
	}
	return n
}

// Sweep deletes the log files of a project that nothing needs. A file of a
// live version goes once it was buried for the grace; files of destroyed
// versions and of prefixes that belong to no version are buried by the first
// sweep that sees them. Before deleting it looks at everything again, and
// before each batch at the epoch of the version. With dryRun it changes
// nothing. Several sweeps at once are harmless.
//
// It deletes no blobs: their rows say who needs them, and only the owner of the
// database can read those. A destroyed version with blobs keeps its record.
func (s *Store) Sweep(ctx context.Context, project string, dryRun bool) (*Report, error) {
	first, err := s.survey(ctx, project)
	if err != nil {
		return nil, err
	}
	report, unmarked := first.judge(s.grace)
	if dryRun {
		return report, nil
	}
	for v, keys := range unmarked {
		if err := s.Bury(ctx, v, keys); err != nil {
			return nil, fmt.Errorf("mark unwanted files: %w", err)
		}
	}
	if len(report.Gone) > 0 {
		second, err := s.survey(ctx, project)
		if err != nil {
			return nil, err
		}
		again, _ := second.judge(s.grace)
		report.Gone = both(report.Gone, again.Gone)
		if err := s.deleteAll(ctx, first, report); err != nil {
			return report, err
		}
	}
	return report, s.tidy(ctx, project, report)
}

// judge sorts the files into a report; unmarked are unwanted files in no dead list.
func (all survey) judge(grace time.Duration) (report *Report, unmarked map[svc.Ref][]string) {
	live := all.live()
	report, unmarked = &Report{Broken: map[string]error{}}, map[svc.Ref][]string{}
	for ref, err := range live.broken {
		report.Broken[ref.String()] = err
	}
	for _, m := range all {
		for _, f := range m.files {
			o := Object{Version: m.ref, Key: f.Key(), Size: f.Size, PinnedBy: live.PinnedBy(f.Key())}
			since, dead := m.dead[o.Key]
			switch {
			case slices.Contains(o.PinnedBy, m.ref):
			case len(o.PinnedBy) > 0:
				report.Pinned = append(report.Pinned, o)
			case !dead:
				unmarked[m.ref] = append(unmarked[m.ref], o.Key)
				o.Left = grace
				report.Waiting = append(report.Waiting, o)
			case time.Since(since) < grace:
				o.Left = grace - time.Since(since)
				report.Waiting = append(report.Waiting, o)
			default:
				report.Gone = append(report.Gone, o)
			}
		}
	}
	for _, list := range [][]Object{report.Gone, report.Waiting, report.Pinned} {
		slices.SortFunc(list, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	}
	return report, unmarked
}

// both keeps the objects that are in each list.
func both(a, b []Object) []Object {
	keys := map[string]bool{}
	for _, o := range b {
		keys[o.Key] = true
	}
	return slices.DeleteFunc(a, func(o Object) bool { return !keys[o.Key] })
}

// deleteAll deletes what the report says, in batches of one version, and takes
// from the report what it did not delete.
func (s *Store) deleteAll(ctx context.Context, seen survey, report *Report) error {
	const batch = 500
	doomed := report.Gone
	report.Gone = nil
	for len(doomed) > 0 {
		v, n := doomed[0].Version, 1
		for n < min(len(doomed), batch) && doomed[n].Version == v {
			n++
		}
		keys := make([]string, n)
		for i, o := range doomed[:n] {
			keys[i] = o.Key
		}
		now, err := s.Record(ctx, v)
		if err != nil {
			return err
		}
		if !sameEpoch(seen[v].record, now) {
			report.Broken[v.String()] = fmt.Errorf("its owner changed during the sweep: %w", ErrLost)
		} else {
			if err := s.data.Delete(ctx, keys...); err != nil {
				return fmt.Errorf("sweep %s: %w", v, err)
			}
			report.Gone = append(report.Gone, doomed[:n]...)
		}
		doomed = doomed[n:]
	}
	return nil
}

func sameEpoch(a, b *Record) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Epoch == b.Epoch && a.State == b.State
}

// tidy removes dead lists whose files are all gone, and the records of
// destroyed versions of which nothing is left, after the grace: until then they
// refuse a late fork or owner. The record goes last: as long as a manifest is
// there, it says that the manifest counts no more.
func (s *Store) tidy(ctx context.Context, project string, report *Report) error {
	all, err := s.survey(ctx, project)
	if err != nil {
		return err
	}
	for _, m := range all {
		there := map[string]bool{}
		for _, f := range m.files {
			there[f.Key()] = true
		}
		var done []string
		for _, list := range m.lists {
			if !slices.ContainsFunc(list.keys, func(key string) bool { return there[key] }) {
				done = append(done, list.key)
			}
		}
		if err := s.data.Delete(ctx, done...); err != nil {
			return fmt.Errorf("remove dead lists of %s: %w", m.ref, err)
		}
		if m.wanted() || len(m.files)+len(m.others) > 0 || m.record != nil && time.Since(m.record.changed) < s.grace {
			continue
		}
		for _, key := range []string{manifestKey(m.ref), versionKey(m.ref)} {
			if err := s.manifests.Delete(ctx, key); err != nil {
				return fmt.Errorf("remove record of %s: %w", m.ref, err)
			}
		}
		report.Removed = append(report.Removed, m.ref)
	}
	return nil
}
