package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/superfly/ltx"
	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// History is the history of one database, read from the object store alone. Not safe for concurrent use.
type History struct {
	bucket  objstore.Bucket
	prefix  string
	base    branch.DatabaseBase // without a base, the origins of a root
	files   []branch.File       // of the log that plans of the past may use
	size    int64               // of the files that restore the newest state, see branch.DataSize
	Packs   []branch.Hist
	loose   []Entry            // level 0 files that are in no history object
	entries map[string][]Entry // of the history objects, by key
}

// HistoryConfig configures OpenHistory.
type HistoryConfig struct {
	Bucket  objstore.Bucket
	Prefix  string
	Base    *branch.DatabaseBase // nil for a database that was not inherited
	Listing []objstore.Info      // of its log and its history
	Keep    time.Duration        // see Config.Keep
}

// OpenHistory reads the index of each history object, and the header of each level 0 file that is in none.
func OpenHistory(ctx context.Context, c HistoryConfig) (*History, error) {
	h := &History{bucket: c.Bucket, prefix: c.Prefix, entries: map[string][]Entry{}, base: branch.DatabaseBase{Origins: []branch.Origin{}}}
	if c.Base != nil {
		h.base = *c.Base
	}
	end := h.base.TXID
	var own []branch.File
	for _, info := range c.Listing {
		if p, ok := branch.ParseHist(info.Key); ok && p.Prefix == c.Prefix {
			p.Size, p.Modified = info.Size, info.Modified
			h.Packs, end = append(h.Packs, p), max(end, p.Max)
		}
		if f, ok := branch.ParseKey(info.Key); ok && f.Prefix == c.Prefix {
			f.Size, f.Modified = info.Size, info.Modified
			own = append(own, f)
		}
	}
	cover := coverOf(own)
	h.size = branch.DataSize(slices.Concat(h.base.Files, own)) // as a sweep counts it
	h.files = slices.DeleteFunc(own, func(f branch.File) bool {
		since, over := cover.since(f)
		switch f.Level {
		case 0: // history keeps those that it lacks while it is on
			return f.Max <= end || over && time.Since(since) > c.Keep
		case 1:
			return true // the history objects have their content, and pins of the past do not include them
		}
		return false
	})
	return h, h.read(ctx)
}

// read reads the entries.
func (h *History) read(ctx context.Context) error {
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(indexReads)
	for _, p := range h.Packs {
		work.Go(func() error {
			list, err := readHist(ctx, h.bucket, p)
			mu.Lock()
			defer mu.Unlock()
			if h.entries[p.Key()] = list; errors.Is(err, objstore.ErrNotExist) {
				return nil // a sweep has deleted it since the listing
			}
			return err
		})
	}
	for _, f := range h.files {
		if f.Level != 0 {
			continue
		}
		work.Go(func() error {
			hdr, err := h.header(ctx, f)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			h.loose = append(h.loose, Entry{Min: f.Min, Max: f.Max, Time: hdr.Timestamp, Place: hdr.NodeID, Size: f.Size})
			return nil
		})
	}
	return work.Wait()
}

// Entries returns the entries in the order of transactions: those of level 0 files, and those of the
// history objects that kept names.
func (h *History) Entries(kept map[string]bool) []Entry {
	all := slices.Clone(h.loose)
	for key, list := range h.entries {
		if kept[key] {
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Max, b.Max), cmp.Compare(b.Min, a.Min)) })
	return slices.CompactFunc(all, func(a, b Entry) bool { return a.Max == b.Max })
}

// DataSize is how many bytes restore the newest state.
func (h *History) DataSize() int64 { return h.size }

func (h *History) packedFiles() (files []branch.File) {
	for _, p := range h.Packs {
		for _, e := range h.entries[p.Key()] {
			files = append(files, e.file(p))
		}
	}
	return files
}

// Cut is Log.Cut at a transaction of the past. It returns branch.ErrNotRestorable when files of that time
// are deleted.
func (h *History) Cut(ctx context.Context, txid uint64) (branch.Cut, error) {
	plan, err := branch.Plan(slices.Concat(h.base.Files, h.files, h.packedFiles()), txid)
	if err != nil || len(plan) == 0 {
		return branch.Cut{Origins: h.base.Origins}, err
	}
	hdr, err := h.header(ctx, plan[len(plan)-1])
	if err != nil {
		return branch.Cut{}, fmt.Errorf("cut %s at %d: %w", h.prefix, txid, err)
	}
	return branch.Cut{PageSize: int(hdr.PageSize), TXID: txid, Files: plan, Origins: h.base.Origins}, nil
}

func (h *History) header(ctx context.Context, f branch.File) (ltx.Header, error) {
	head, err := readRange(ctx, h.bucket, f, 0, ltx.HeaderSize)
	if err != nil {
		return ltx.Header{}, err
	}
	return headerOf(f, head)
}

// TimeOf is the time in the header of a transaction, in milliseconds; 0 for none.
func (l *Log) TimeOf(ctx context.Context, txid TXID) (int64, error) {
	plan, err := l.Plan(txid)
	if err != nil || len(plan) == 0 {
		return 0, err
	}
	f := plan[len(plan)-1]
	head, err := readRange(ctx, l.bucket, f, 0, ltx.HeaderSize)
	if err != nil {
		return 0, err
	}
	hdr, err := headerOf(f, head)
	return hdr.Timestamp, err
}
