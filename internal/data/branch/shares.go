package branch

import (
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// share adds to the report which objects versions need together: Usage.Inherited and
// Usage.Alone.
func (all survey) share(r *Report, grace time.Duration) {
	of := make(map[svc.Ref]*Usage, len(r.Versions))
	for i := range r.Versions {
		of[r.Versions[i].Version] = &r.Versions[i]
	}
	live := all.live(grace)
	packs, _ := all.pinnedPacks()
	for _, m := range all {
		for _, f := range m.files {
			count(of, m.ref, f.Size, live.pins[f.id()])
		}
		kept := m.findPast(grace).packs
		for _, h := range m.hists {
			by := packs[h.Key()]
			if kept[h.Key()] {
				by = append([]svc.Ref{m.ref}, by...)
			}
			count(of, m.ref, h.Size, by)
		}
		others := all.holders(m.ref)
		for _, stored := range m.blobs {
			count(of, m.ref, stored.size, needing(stored.of(m.ref), holder{member: m}, others, r.Broken))
		}
	}
}

// needing returns the versions that may name a blob.
func needing(b Blob, self holder, others []holder, broken map[svc.Ref]error) (by []svc.Ref) {
	for _, h := range slices.Concat([]holder{self}, others) {
		if _, free := h.free(b, broken); !free {
			by = append(by, h.ref)
		}
	}
	return by
}

// count adds an object of owner that the versions by need.
func count(of map[svc.Ref]*Usage, owner svc.Ref, size int64, by []svc.Ref) {
	for _, v := range by {
		switch u := of[v]; {
		case u == nil:
		case v != owner:
			u.Inherited.Add(size)
		case len(by) == 1:
			u.Alone.Add(size)
		}
	}
}
