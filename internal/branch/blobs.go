package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// storedBlob is a blob that a survey found, of the member it is in.
type storedBlob struct {
	since    uint64
	id       [16]byte
	size     int64
	modified time.Time
}

func (b storedBlob) of(v svc.Ref) Blob { return Blob{v, b.since, b.id} }

// dropped says that a version names a blob no more.
type dropped struct {
	at    uint64    // from this transaction on
	since time.Time // when it was said
}

// noteBlob adds a blob of the listing; false when the key is of something else.
func (m *member) noteBlob(info objstore.Info) bool {
	b, ok := ParseBlob(info.Key)
	if ok {
		m.blobs = append(m.blobs, storedBlob{b.Since, b.ID, info.Size, info.Modified})
	}
	return ok
}

// noteDrops adds a drop list. What was dropped twice counts from the first time.
func (m *member) noteDrops(list dropList) {
	m.dropLists = append(m.dropLists, list)
	list.each(func(b Blob, at uint64) {
		if old, known := m.drops[b]; !known || at < old.at {
			m.drops[b] = dropped{at, list.since}
		}
	})
}

// holder is a version that may name blobs of another, or its own.
type holder struct {
	*member
	path []step // from the version to the one whose blobs they are; empty when it is the same, or not known
}

// step is one ancestor on the path, nil when nothing is known of it, and its last
// transaction that the version has.
type step struct {
	*member
	txid uint64
}

// holders are those of its descendants that may name blobs of v.
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

// free tells since when h does not name b; ok is false while it may.
//
// It never had b when it branched off before b was named or, somewhere on its
// path, after b was dropped; else it must have dropped b itself, or be unwanted.
// What is broken may have lost the end of its log, so what it said of drops does
// not count.
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
		if d, known := s.drops[b]; known && d.at <= s.txid {
			earlier(d.since)
		}
	}
	if d, known := h.drops[b]; known && broken[h.ref] == nil {
		earlier(d.since)
	}
	if !h.wanted() {
		earlier(h.gaveUp())
	}
	return since, ok
}

// gaveUp is since when an unwanted version names no blobs any more. One without a
// record was never opened, or all that said so is gone.
func (m *member) gaveUp() time.Time {
	if m.record == nil && m.manifest == nil {
		return time.Time{}
	}
	return m.released()
}

// judgeBlobs sorts the blobs of m into the report.
func (all survey) judgeBlobs(m *member, grace time.Duration, r *Report, u *Usage) {
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

// tidyBlobs removes the drop lists whose blobs are all gone, after the grace, and
// says how many blobs and lists of each version are left.
func (s *Store) tidyBlobs(ctx context.Context, found survey, gone map[string]bool) (left map[svc.Ref]int, err error) {
	listed := map[Blob]bool{} // by drop lists; true when it is there
	for _, m := range found {
		for b := range m.drops {
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
		for _, list := range m.dropLists {
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
				return nil, fmt.Errorf("remove drop lists of %s: %w", m.ref, err)
			}
		}
	}
	return left, nil
}
