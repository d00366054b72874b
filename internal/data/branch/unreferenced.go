package branch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// BlobDatabase is the database whose rows name blobs: Blob.Since and
// Unreferenced.At are its transactions.
const BlobDatabase = "sys"

// Origin is one ancestor of a version, and its last transaction that the version
// inherited.
type Origin struct {
	Version string `json:"version"` // id
	TXID    uint64 `json:"txid"`
}

// origins are the ancestors whose blobs the version may name, nearest first;
// known is false for a manifest of an older program, which did not record them.
func (m *Manifest) origins() (list []Origin, known bool) {
	if m == nil {
		return nil, true
	}
	base, forked := m.Databases[BlobDatabase]
	return base.Origins, !forked || base.Origins != nil
}

// Origins are the ancestors of v whose blobs its rows may name, nearest first.
func (m *Manifest) Origins() []Origin {
	list, _ := m.origins()
	return list
}

// Unreferenced are blobs that no row of a version names from transaction At on.
type Unreferenced struct {
	At    uint64   `json:"at"`
	Blobs []string `json:"blobs"` // keys
}

// wireUnreferenced is a gc/blobs object.
type wireUnreferenced struct {
	V     int            `json:"v"`
	Drops []Unreferenced `json:"drops"`
}

// maxUnreferenced is the maximum number of keys in one list.
const maxUnreferenced = 10_000

func unreferencedPrefix(v svc.Ref) string { return v.String() + "/gc/blobs/" }

// UnreferenceBlobs records that no row of v names these blobs from transaction d.At
// on, which must be in the log. The blobs may be of v or of its ancestors. Sweep
// deletes a blob when all versions that could name it have recorded it.
// Idempotent.
func (s *Store) UnreferenceBlobs(ctx context.Context, v svc.Ref, d Unreferenced) error {
	for _, key := range d.Blobs {
		if b, ok := ParseBlob(key); !ok || b.Version.Project != v.Project {
			return fmt.Errorf("unreference %s: not a blob of the project of %s", key, v)
		}
	}
	for some := range slices.Chunk(d.Blobs, maxUnreferenced) {
		if err := s.putUnreferenced(ctx, v, []Unreferenced{{d.At, some}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) putUnreferenced(ctx context.Context, v svc.Ref, drops []Unreferenced) error {
	data, err := json.Marshal(wireUnreferenced{manifestVersion, drops})
	if err == nil {
		err = s.createTimed(ctx, unreferencedPrefix(v), data)
	}
	if err != nil {
		return fmt.Errorf("unreference blobs of %s: %w", v, err)
	}
	return nil
}

// maxBlobLists is how many lists a version may have before they are merged.
const maxBlobLists = 16

// UnreferencedBlobs returns the blobs that v has recorded as unreferenced and whose
// lists sweeps have not deleted yet. It merges the lists when there are many. Only
// the owner of v calls it, one call at a time.
func (s *Store) UnreferencedBlobs(ctx context.Context, v svc.Ref) (map[Blob]bool, error) {
	infos, err := objstore.ListAll(ctx, s.data, unreferencedPrefix(v))
	if err != nil {
		return nil, fmt.Errorf("find lists of unreferenced blobs of %s: %w", v, err)
	}
	first := map[Blob]uint64{}
	var read []string
	for _, info := range infos {
		list, err := s.readBlobList(ctx, info)
		if errors.Is(err, objstore.ErrNotExist) {
			continue // a sweep deleted it
		}
		if err != nil {
			return nil, err
		}
		read = append(read, info.Key)
		list.each(func(b Blob, at uint64) {
			if old, known := first[b]; !known || at < old {
				first[b] = at
			}
		})
	}
	if len(read) > maxBlobLists {
		err = s.mergeUnreferenced(ctx, v, first, read)
	}
	dropped := make(map[Blob]bool, len(first))
	for b := range first {
		dropped[b] = true
	}
	return dropped, err
}

// mergeUnreferenced writes the entries of lists into few new lists, and then
// deletes lists.
func (s *Store) mergeUnreferenced(ctx context.Context, v svc.Ref, drops map[Blob]uint64, lists []string) error {
	byAt := map[uint64][]string{}
	for b, at := range drops {
		byAt[at] = append(byAt[at], b.Key())
	}
	var all []Unreferenced
	size := 0
	for _, at := range slices.Sorted(maps.Keys(byAt)) {
		for some := range slices.Chunk(byAt[at], maxUnreferenced) {
			if size+len(some) > maxUnreferenced {
				if err := s.putUnreferenced(ctx, v, all); err != nil {
					return err
				}
				all, size = nil, 0
			}
			all, size = append(all, Unreferenced{at, some}), size+len(some)
		}
	}
	if size > 0 {
		if err := s.putUnreferenced(ctx, v, all); err != nil {
			return err
		}
	}
	if err := s.data.Delete(ctx, lists...); err != nil {
		return fmt.Errorf("delete merged lists of unreferenced blobs of %s: %w", v, err)
	}
	return nil
}

// blobList is a decoded gc/blobs object.
type blobList struct {
	key    string
	since  time.Time
	groups []blobGroup
}

type blobGroup struct {
	at    uint64
	blobs []Blob
}

// each calls do for every blob of the list.
func (list blobList) each(do func(b Blob, at uint64)) {
	for _, group := range list.groups {
		for _, b := range group.blobs {
			do(b, group.at)
		}
	}
}

func (s *Store) readBlobList(ctx context.Context, info objstore.Info) (list blobList, err error) {
	at, err := timeOf(info.Key)
	if err != nil {
		return list, fmt.Errorf("read list of unreferenced blobs %s: %w", info.Key, err)
	}
	data, _, err := objstore.Read(ctx, s.data, info.Key, 0, -1)
	if err != nil {
		return list, fmt.Errorf("read list of unreferenced blobs %s: %w", info.Key, err)
	}
	var wire wireUnreferenced
	if err := json.Unmarshal(data, &wire); err != nil {
		return list, fmt.Errorf("read list of unreferenced blobs %s: %w", info.Key, err)
	}
	if wire.V != manifestVersion {
		return list, fmt.Errorf("read list of unreferenced blobs %s: it has format %d; this program reads %d", info.Key, wire.V, manifestVersion)
	}
	list = blobList{key: info.Key, since: later(at, info.Modified)}
	var last svc.Ref
	for _, d := range wire.Drops {
		group := blobGroup{at: d.At, blobs: make([]Blob, 0, len(d.Blobs))}
		for _, key := range d.Blobs {
			b, ok := ParseBlob(key)
			if !ok {
				continue
			}
			if b.Version != last { // one copy for all keys, so that they need not stay in memory
				last = svc.Ref{Project: strings.Clone(b.Version.Project), Version: strings.Clone(b.Version.Version)}
			}
			b.Version = last
			group.blobs = append(group.blobs, b)
		}
		list.groups = append(list.groups, group)
	}
	return list, nil
}
