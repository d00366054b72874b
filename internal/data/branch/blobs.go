package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// storedBlob is a blob that a survey found below its member.
type storedBlob struct {
	since    uint64
	id       [16]byte
	size     int64
	modified time.Time
}

func (b storedBlob) of(v svc.Ref) Blob { return Blob{v, b.since, b.id} }

// unreference records that no row of a version names a blob any more.
type unreference struct {
	at    uint64    // from this transaction on
	since time.Time // when it was recorded
}

// noteBlob adds a blob of the listing. It reports false for other objects.
func (m *member) noteBlob(info objstore.Info) bool {
	b, ok := ParseBlob(info.Key)
	if ok {
		m.blobs = append(m.blobs, storedBlob{b.Since, b.ID, info.Size, info.Modified})
	}
	return ok
}

// noteBlobList adds a list of unreferenced blobs. The first entry of a blob counts.
func (m *member) noteBlobList(list blobList) {
	m.blobLists = append(m.blobLists, list)
	list.each(func(b Blob, at uint64) {
		if old, known := m.unreferenced[b]; !known || at < old.at {
			m.unreferenced[b] = unreference{at, list.since}
		}
	})
}

// holder is a version whose rows may name the blobs of a version.
type holder struct {
	*member
	path []step // from the holder to the version that stored the blobs; empty when that is the holder itself, or not known
}

// step is one ancestor on the path, nil when it is unknown, and its last
// transaction that the holder inherited.
type step struct {
	*member
	txid uint64
}

// holders are the descendants of v that may name its blobs.
func (all survey) holders(v svc.Ref) (list []holder) {
	for _, m := range all {
		origins, known := m.manifest.origins()
		switch i := slices.IndexFunc(origins, func(o Origin) bool { return o.Version == v.Version }); {
		case m.ref == v:
		case !known:
			list = append(list, holder{member: m})
		case i >= 0:
			h := holder{member: m}
			for _, o := range origins[:i+1] {
				h.path = append(h.path, step{all[svc.Ref{Project: v.Project, Version: o.Version}], o.TXID})
			}
			list = append(list, h)
		}
	}
	return list
}

// free reports since when h does not name b; ok is false while h may name it.
//
// h never had b when it was forked before b was named or, somewhere on its path,
// after b became unreferenced. Otherwise h itself must have unreferenced b, or be
// unwanted. A broken version may have lost the end of its log, so its
// unreferenced blobs do not count.
func (h *holder) free(b Blob, broken map[svc.Ref]error) (since time.Time, ok bool) {
	if n := len(h.path); n > 0 && h.path[n-1].txid < b.Since {
		return time.Time{}, true
	}
	earlier := func(at time.Time) {
		if !ok || at.Before(since) {
			since, ok = at, true
		}
	}
	for _, s := range h.path {
		if s.member == nil || broken[s.ref] != nil {
			continue
		}
		if d, known := s.unreferenced[b]; known && d.at <= s.txid {
			earlier(d.since)
		}
	}
	if d, known := h.unreferenced[b]; known && broken[h.ref] == nil {
		earlier(d.since.Add(h.keep.Longest())) // a kept point of h may name it until then
	}
	if !h.wanted() {
		earlier(h.blobsReleased())
	}
	return since, ok
}

// blobsReleased is since when an unwanted version names no blobs any more. It is
// zero without record and manifest: the version was never opened, or is purged.
func (m *member) blobsReleased() time.Time {
	if m.record == nil && m.manifest == nil {
		return time.Time{}
	}
	return m.released()
}

// classifyBlobs adds the blobs of m to the report.
func (all survey) classifyBlobs(m *member, grace time.Duration, r *Report, u *Usage) {
	if len(m.blobs) == 0 {
		return
	}
	self, others := holder{member: m}, all.holders(m.ref)
	for _, stored := range m.blobs {
		b := stored.of(m.ref)
		since, free := self.free(b, r.Broken)
		if !free {
			u.Live.Add(stored.size)
			continue
		}
		o := Object{Version: m.ref, Key: b.Key(), Size: stored.size}
		since = later(since, stored.modified)
		for i := range others {
			at, free := others[i].free(b, r.Broken)
			if !free {
				o.PinnedBy = append(o.PinnedBy, others[i].ref)
			}
			since = later(since, at)
		}
		if len(o.PinnedBy) > 0 {
			sortRefs(o.PinnedBy)
			r.Pinned = append(r.Pinned, o)
			u.pin(o)
			continue
		}
		o.Left = max(0, grace-time.Since(since))
		r.unwanted(o, u)
	}
}

// deleteBlobLists deletes the lists of unreferenced blobs whose blobs are all
// deleted, after the grace, and counts the blobs and lists left of each version.
func (s *Store) deleteBlobLists(ctx context.Context, found survey, gone map[string]bool) (left map[svc.Ref]int, err error) {
	listed := map[Blob]bool{} // the blobs of all lists; true when the blob still exists
	for _, m := range found {
		for b := range m.unreferenced {
			listed[b] = false
		}
	}
	left = map[svc.Ref]int{}
	for _, m := range found {
		for _, stored := range m.blobs {
			b := stored.of(m.ref)
			if len(gone) > 0 && gone[b.Key()] {
				continue
			}
			left[m.ref]++
			if _, ok := listed[b]; ok {
				listed[b] = true
			}
		}
	}
	for _, m := range found {
		var old []string
		for _, list := range m.blobLists {
			needed := time.Since(list.since) < s.grace
			list.each(func(b Blob, _ uint64) { needed = needed || listed[b] })
			if needed {
				left[m.ref]++
			} else {
				old = append(old, list.key)
			}
		}
		if len(old) > 0 {
			if err := s.data.Delete(ctx, old...); err != nil {
				return nil, fmt.Errorf("delete lists of unreferenced blobs of %s: %w", m.ref, err)
			}
		}
	}
	return left, nil
}
