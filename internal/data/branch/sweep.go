package branch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SweepOptions are options of Sweep.
type SweepOptions struct {
	DryRun bool // change nothing
	Shares bool // with DryRun: also count what versions need of others
	// Registry returns the registered versions of the project, by id; Sweep calls it
	// after each listing. The data of a wanted version is never deleted, whatever its
	// record says. Sweep marks an unwanted version as destroyed, and also an
	// unregistered fork that was not opened within the grace. Without Registry the
	// records decide.
	Registry func(context.Context) (map[string]Registered, error)
	// Node is the sweeping node. A version that another node owns is wanted, since it
	// is that node's registry that knows the version. "" when no other node exists.
	Node string
	// History is how long the points of wanted versions are kept.
	History History
}

// Registered is what the registry says of a version.
type Registered struct {
	Wanted bool // false: it failed or was destroyed
	Forked bool // its data began as a fork, so it must have a manifest
}

// Sweep deletes the log files and blobs of a project that no version needs. It
// deletes a file of a live version once it has been in a dead list for the grace;
// it adds files of destroyed versions, and of prefixes without a version, to a dead
// list when it first sees them. The files that a version inherited stay for the
// grace after the version was destroyed. Before deleting, Sweep surveys the project
// again, and before each batch it compares the epoch of the version. Concurrent
// sweeps are harmless. When Sweep fails, the report has what was deleted until
// then.
//
// Sweep deletes nothing of a project in which the manifest of a fork is missing:
// the records may be kept in another place.
//
// Sweep deletes a blob when every version whose rows may name it has recorded it as
// unreferenced (UnreferenceBlobs), or was destroyed, for the grace: see holder. Only
// the owner of a version can read its rows, so a version that has recorded nothing
// needs every blob that it inherited.
func (s *Store) Sweep(ctx context.Context, project string, o SweepOptions) (*Report, error) {
	began := time.Now()
	found, err := s.inspect(ctx, project, o)
	if err != nil {
		return nil, err
	}
	report, unlisted := found.classify(s.grace)
	defer report.countGone()
	if o.DryRun {
		report.Marked = found.toMark()
		if o.Shares {
			found.share(report, s.grace)
		}
		return report, nil
	}
	candidates := report.Gone
	report.Gone = nil
	if err := errors.Join(s.mark(ctx, found, report), s.markAllDead(ctx, unlisted)); err != nil {
		return report, err
	}
	if len(candidates) > 0 {
		// This replaces the first survey: only one is in memory at a time.
		if found, err = s.inspect(ctx, project, o); err != nil {
			return report, err
		}
		again, _ := found.classify(s.grace)
		if err := s.deleteAll(ctx, both(candidates, again.Gone), found, report); err != nil {
			return report, err
		}
	}
	return report, s.deleteLeftovers(ctx, found, began, report)
}

// toMark lists the versions that are unwanted and not marked so.
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

// mark writes the state of the unwanted versions into their records. It skips an
// orphaned fork that has been opened meanwhile.
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

func (s *Store) markAllDead(ctx context.Context, unlisted map[svc.Ref][]string) error {
	for v, keys := range unlisted {
		if err := s.MarkDead(ctx, v, keys); err != nil {
			return fmt.Errorf("add unwanted files of %s to a dead list: %w", v, err)
		}
	}
	return nil
}

// deleteAll deletes the candidates in batches of one version each, as long as the
// record of the version is unchanged, and adds them to the report.
func (s *Store) deleteAll(ctx context.Context, candidates []Object, seen survey, report *Report) error {
	const batch = 500
	for len(candidates) > 0 {
		v, n := candidates[0].Version, 1
		for n < min(len(candidates), batch) && candidates[n].Version == v {
			n++
		}
		keys := make([]string, n)
		for i, o := range candidates[:n] {
			keys[i] = o.Key
		}
		now, err := s.Record(ctx, v)
		if err != nil {
			return err
		}
		if !sameEpoch(seen[v].record, now) {
			report.Broken[v] = fmt.Errorf("owner changed during the sweep: %w", ErrLost)
		} else {
			if err := s.data.Delete(ctx, keys...); err != nil {
				return fmt.Errorf("sweep %s: %w", v, err)
			}
			report.Gone = append(report.Gone, candidates[:n]...)
		}
		candidates = candidates[n:]
	}
	return nil
}

func sameEpoch(a, b *Record) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Epoch == b.Epoch && a.State == b.State
}

// deleteLeftovers deletes dead lists whose files are all deleted, and purges
// destroyed versions without objects; both after the grace. Until then a list may
// be newer than the listing, and a record rejects a late fork or owner.
//
// A version is purged only after the objects that it pinned are deleted: the grace
// must have ended before the sweep began, and no object may have been skipped
// because an owner changed.
func (s *Store) deleteLeftovers(ctx context.Context, found survey, began time.Time, report *Report) error {
	if len(found.lostManifests()) > 0 {
		return nil
	}
	late := report.ownerChanged()
	gone, goneKeys := map[id]bool{}, map[string]bool{}
	for _, o := range report.Gone {
		f, _ := ParseKey(o.Key)
		gone[f.id()], goneKeys[o.Key] = true, true
	}
	blobsLeft, err := s.deleteBlobLists(ctx, found, goneKeys)
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
		for _, h := range m.hists {
			if !goneKeys[h.Key()] {
				left++
			}
		}
		if len(old) > 0 {
			if err := s.data.Delete(ctx, old...); err != nil {
				return fmt.Errorf("delete dead lists of %s: %w", m.ref, err)
			}
		}
		if late || m.wanted() || len(there)+left+blobsLeft[m.ref]+m.others.Objects > 0 {
			continue
		}
		if err := s.purge(ctx, m, began, report); err != nil {
			return err
		}
	}
	sortRefs(report.Removed)
	return nil
}

// oldLists returns the dead lists that name no file that exists and is in no older list, and the number
// of the others. History keeps dead files for days, and each opening of their version lists them again.
func (m *member) oldLists(there map[id]bool, grace time.Duration) (old []string, left int) {
	there = maps.Clone(there)
	slices.SortFunc(m.lists, func(a, b deadList) int { return a.since.Compare(b.since) })
	for _, list := range m.lists {
		if list.namesAny(there) || time.Since(list.since) < grace {
			left++
		} else {
			old = append(old, list.key)
		}
		for _, name := range list.names {
			delete(there, name)
		}
	}
	return old, left
}

// purge deletes the manifest and the record of an unwanted version, if its grace
// ended before began. The record goes last: while the manifest exists, the record
// says that the manifest no longer counts.
func (s *Store) purge(ctx context.Context, m *member, began time.Time, report *Report) error {
	if m.unmarked() || m.record != nil && began.Sub(m.record.changed) < s.grace {
		return nil
	}
	if m.record != nil {
		for _, key := range []string{manifestKey(m.ref), versionKey(m.ref)} {
			if err := s.manifests.Delete(ctx, key); err != nil {
				return fmt.Errorf("purge %s: %w", m.ref, err)
			}
		}
	}
	if m.record != nil || len(m.files)+len(m.hists)+len(m.lists)+len(m.blobs)+len(m.blobLists) > 0 {
		report.Removed = append(report.Removed, m.ref)
	}
	return nil
}

func (list deadList) namesAny(there map[id]bool) bool {
	return slices.ContainsFunc(list.names, func(name id) bool { return there[name] })
}
