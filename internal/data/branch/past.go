package branch

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// past is what the kept points of a version need. A point is not offered any more once it is not kept, and what
// it needs stays for the grace after that: a fork may have begun.
type past struct {
	files map[id]bool     // of its log
	packs map[string]bool // history objects, by key
}

// findPast computes it: of each database the newest full image at or before the oldest kept point, all
// images and merged files from there on, and the history objects since the last of these that ends before
// that point.
func (m *member) findPast(grace time.Duration) past {
	p := past{map[id]bool{}, map[string]bool{}}
	if len(m.hists) == 0 || !m.wanted() {
		return p
	}
	p.packs = m.history().Kept(time.Now().Add(-grace))
	oldest := map[string]uint64{}
	for _, h := range m.hists {
		if at, ok := oldest[h.Prefix]; p.packs[h.Key()] && (!ok || h.Min-1 < at) {
			oldest[h.Prefix] = h.Min - 1
		}
	}
	for prefix, at := range oldest {
		m.chain(prefix, at, p)
	}
	return p
}

// chain adds what leads to transaction at of a database, and the merged files after it.
func (m *member) chain(prefix string, at uint64, p past) {
	image, merged := uint64(0), m.forkedAt(prefix)
	for _, f := range m.files {
		if f.Prefix != prefix || f.Max > at || f.Level < keptLevel {
			continue
		}
		merged = max(merged, f.Max)
		if f.Level == SnapshotLevel {
			image = max(image, f.Max)
		}
	}
	for _, f := range m.files {
		if f.Prefix == prefix && f.Level >= keptLevel && f.Max >= image {
			p.files[f.id()] = true
		}
	}
	for _, h := range m.hists {
		if h.Prefix == prefix && h.Tier != TierSeconds && h.Max > merged {
			p.packs[h.Key()] = true
		}
	}
}

// keptLevel is the lowest level of merged files that history keeps. Those below are in history objects.
const keptLevel = 2

// forkedAt is the transaction with which a database of the version began.
func (m *member) forkedAt(prefix string) uint64 {
	if m.manifest == nil {
		return 0
	}
	return m.manifest.Databases[databaseOf(prefix)].TXID
}

// history is the history of the version as a reader sees it, too: see HistorySet.
func (m *member) history() HistorySet {
	s := HistorySet{Keep: m.keep, Objects: m.hists}
	for _, files := range m.byDatabase() {
		s.Data += DataSize(files)
	}
	return s
}

// DataSize is how many bytes the files have that restore a database.
func DataSize(files []File) (bytes int64) {
	end, _ := Position(files)
	plan, err := Plan(files, end)
	if err != nil {
		return 0
	}
	for _, f := range plan {
		bytes += f.Size
	}
	return bytes
}

// pinnedPacks are the history objects that manifests of wanted versions name, and until when those of others
// have a grace.
func (all survey) pinnedPacks() (pins map[string][]svc.Ref, released map[string]time.Time) {
	pins, released = map[string][]svc.Ref{}, map[string]time.Time{}
	for _, m := range all {
		named := map[string]bool{}
		m.manifest.eachPack(func(f File) { named[f.Pack] = true })
		if m.record != nil {
			m.record.Cut.eachPack(func(f File) { named[f.Pack] = true })
		}
		for key := range named {
			if m.wanted() {
				pins[key] = append(pins[key], m.ref)
			} else {
				released[key] = later(released[key], m.released())
			}
		}
	}
	for _, by := range pins {
		sortRefs(by)
	}
	return pins, released
}

// classifyHistory adds the history objects of m to the report.
func (m *member) classifyHistory(pins map[string][]svc.Ref, released map[string]time.Time, grace time.Duration, r *Report, u *Usage) {
	if len(m.hists) == 0 {
		return
	}
	kept := m.findPast(grace).packs
	for _, h := range m.hists {
		o := Object{Version: m.ref, Key: h.Key(), Size: h.Size, PinnedBy: pins[h.Key()]}
		switch {
		case kept[o.Key] || r.Broken[m.ref] != nil:
			u.Live.Add(h.Size)
		case len(o.PinnedBy) > 0:
			r.Pinned = append(r.Pinned, o)
			u.pin(o)
		default:
			since := released[o.Key] // the points of a wanted version were not kept a grace ago
			if !m.wanted() {
				since = later(later(h.Modified, m.blobsReleased()), since)
			}
			o.Left = max(0, grace-time.Since(since))
			r.unwanted(o, u)
		}
	}
}
