package branch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SweepOptions say how a project is swept.
type SweepOptions struct {
	DryRun bool // change nothing
	// Fates says what the project's versions are for, by their ids; it is asked
	// after each listing. The data of a wanted version is never deleted, whatever
	// the records say. An unwanted one is marked as destroyed, and so is a fork
	// that has no fate and that nobody opened within the grace. Without Fates the
	// records are all that counts.
	Fates func(context.Context) (map[string]Fate, error)
	// Host is who asks. What another host owns is wanted: that one's registry may
	// know better. "" when there is no other host.
	Host string
}

// Fate is what a version is for, as the registry knows.
type Fate struct {
	Wanted bool // false: it failed or was destroyed
	Forked bool // its data began as a fork, so it must have a manifest
}

// Sweep deletes the log files and blobs of a project that nothing needs. A file of a
// live version goes once it was buried for the grace; files of destroyed
// versions and of prefixes that belong to no version are buried by the first
// sweep that sees them. What a version had inherited stays for the grace after
// it was destroyed. Before deleting Sweep looks at everything again, and before
// each batch at the epoch of the version. Several sweeps at once are harmless.
// When it fails, the report says what was deleted until then.
//
// A project in which the manifest of a fork is missing is left alone: the
// records may be kept somewhere else.
//
// A blob goes when every version that may name it has dropped it for the grace
// (DropBlobs), or was destroyed for as long: see holder. Only the owner of a
// version can read its rows, so a version that has said nothing needs all that it
// had when it branched off.
func (s *Store) Sweep(ctx context.Context, project string, o SweepOptions) (*Report, error) {
	began := time.Now()
	found, err := s.look(ctx, project, o)
	if err != nil {
		return nil, err
	}
	report, unburied := found.judge(s.grace)
	defer report.countGone()
	if o.DryRun {
		report.Marked = found.toMark()
		return report, nil
	}
	doomed := report.Gone
	report.Gone = nil
	if err := errors.Join(s.mark(ctx, found, report), s.buryAll(ctx, unburied)); err != nil {
		return report, err
	}
	if len(doomed) > 0 {
		// The first survey is not used any more: one at a time is in memory.
		if found, err = s.look(ctx, project, o); err != nil {
			return report, err
		}
		again, _ := found.judge(s.grace)
		if err := s.deleteAll(ctx, both(doomed, again.Gone), found, report); err != nil {
			return report, err
		}
	}
	return report, s.tidy(ctx, found, began, report)
}

// toMark names the versions that are unwanted and not marked so.
func (all survey) toMark() (refs []svc.Ref) {
	if len(all.lostManifests()) > 0 {
		return nil
	}
	for _, m := range all {
		if m.unmarked() {
			refs = append(refs, m.ref)
		}
	}
	sortRefs(refs)
	return refs
}

// mark says in the records what the registry says. A fork that is nobody's is
// left to whoever opened it meanwhile.
func (s *Store) mark(ctx context.Context, all survey, report *Report) error {
	for _, v := range all.toMark() {
		var err error
		if all[v].orphan {
			err = s.change(ctx, v, nil, Record{State: StateDestroying, Epoch: 1})
		} else {
			err = s.Destroy(ctx, v)
		}
		switch {
		case errors.Is(err, ErrLost):
		case err != nil:
			return fmt.Errorf("mark %s as destroyed: %w", v, err)
		default:
			report.Marked = append(report.Marked, v)
		}
	}
	return nil
}

func (s *Store) buryAll(ctx context.Context, unburied map[svc.Ref][]string) error {
	for v, keys := range unburied {
		if err := s.Bury(ctx, v, keys); err != nil {
			return fmt.Errorf("mark unwanted files: %w", err)
		}
	}
	return nil
}

// deleteAll deletes the files in batches of one version each, whose record must
// be as it was seen, and adds them to the report.
func (s *Store) deleteAll(ctx context.Context, doomed []Object, seen survey, report *Report) error {
	const batch = 500
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
			report.Broken[v] = fmt.Errorf("its owner changed during the sweep: %w", ErrLost)
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
// destroyed versions of which nothing is left; both after the grace. Until then
// a list may be newer than the listing was, and a record refuses a late fork or
// owner. The record goes last: as long as a manifest is there, it says that the
// manifest counts no more.
//
// What a version had held goes before it is forgotten, or nobody would know why
// that is still there: the grace must have ended when the sweep began to look,
// and nothing may have been left because an owner changed.
func (s *Store) tidy(ctx context.Context, found survey, began time.Time, report *Report) error {
	if len(found.lostManifests()) > 0 {
		return nil
	}
	late := report.ownerChanged()
	gone, goneKeys := map[id]bool{}, map[string]bool{}
	for _, o := range report.Gone {
		f, _ := ParseKey(o.Key)
		gone[f.id()], goneKeys[o.Key] = true, true
	}
	blobsLeft, err := s.tidyBlobs(ctx, found, goneKeys)
	if err != nil {
		return err
	}
	for _, m := range found {
		there := map[id]bool{}
		for _, f := range m.files {
			if !gone[f.id()] {
				there[f.id()] = true
			}
		}
		old, left := m.oldLists(there, s.grace)
		if len(old) > 0 {
			if err := s.data.Delete(ctx, old...); err != nil {
				return fmt.Errorf("remove dead lists of %s: %w", m.ref, err)
			}
		}
		if late || m.wanted() || len(there)+left+blobsLeft[m.ref]+m.others.Objects > 0 {
			continue
		}
		if err := s.forget(ctx, m, began, report); err != nil {
			return err
		}
	}
	sortRefs(report.Removed)
	return nil
}

// oldLists gives the dead lists that name no file any more, and how many stay.
func (m *member) oldLists(there map[id]bool, grace time.Duration) (old []string, left int) {
	for _, list := range m.lists {
		if list.namesAny(there) || time.Since(list.since) < grace {
			left++
		} else {
			old = append(old, list.key)
		}
	}
	return old, left
}

// forget removes what says that an unwanted version was there, if its grace had
// ended before began.
func (s *Store) forget(ctx context.Context, m *member, began time.Time, report *Report) error {
	if m.unmarked() || m.record != nil && began.Sub(m.record.changed) < s.grace {
		return nil
	}
	if m.record != nil {
		for _, key := range []string{manifestKey(m.ref), versionKey(m.ref)} {
			if err := s.manifests.Delete(ctx, key); err != nil {
				return fmt.Errorf("remove record of %s: %w", m.ref, err)
			}
		}
	}
	if m.record != nil || len(m.files)+len(m.lists)+len(m.blobs)+len(m.dropLists) > 0 {
		report.Removed = append(report.Removed, m.ref)
	}
	return nil
}

func (list deadList) namesAny(there map[id]bool) bool {
	return slices.ContainsFunc(list.names, func(name id) bool { return there[name] })
}
