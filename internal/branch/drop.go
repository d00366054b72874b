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

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// BlobStore is the store whose rows name blobs: positions in drop lists and
// Blob.Since are its transactions.
const BlobStore = "sys"

// Origin is one ancestor of a version, and its last transaction that the version
// has.
type Origin struct {
	Version string `json:"version"` // id
	TXID    uint64 `json:"txid"`
}

// origins are the ancestors that the version may have blobs of, nearest first;
// known is false when its manifest is from before they were written down.
func (m *Manifest) origins() (list []Origin, known bool) {
	if m == nil {
		return nil, true
	}
	base, forked := m.Stores[BlobStore]
	return base.Origins, !forked || base.Origins != nil
}

// Origins are the ancestors of v whose blobs its rows may name, nearest first.
func (m *Manifest) Origins() []Origin {
	list, _ := m.origins()
	return list
}

// Dropped are blobs that rows of a version name no more after transaction At.
type Dropped struct {
	At    uint64   `json:"at"`
	Blobs []string `json:"blobs"` // keys
}

// wireDrops is a gc/blobs object.
type wireDrops struct {
	V     int       `json:"v"`
	Drops []Dropped `json:"drops"`
}

// mostDropped is how many keys one drop list has at most.
const mostDropped = 10_000

func dropPrefix(v svc.Ref) string { return v.String() + "/gc/blobs/" }

// DropBlobs notes that no row of v names these blobs, neither after transaction
// d.At nor later; it must be in the log. The blobs may be of v or of its
// ancestors. A sweep deletes one when all that could name it have dropped it.
// Dropping a blob twice is harmless.
func (s *Store) DropBlobs(ctx context.Context, v svc.Ref, d Dropped) error {
	for _, key := range d.Blobs {
		if b, ok := ParseBlob(key); !ok || b.Version.Project != v.Project {
			return fmt.Errorf("drop: %s is no blob of the project of %s", key, v)
		}
	}
	for some := range slices.Chunk(d.Blobs, mostDropped) {
		if err := s.putDrops(ctx, v, []Dropped{{d.At, some}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) putDrops(ctx context.Context, v svc.Ref, drops []Dropped) error {
	data, err := json.Marshal(wireDrops{manifestVersion, drops})
	if err == nil {
		err = s.createTimed(ctx, dropPrefix(v), data)
	}
	if err != nil {
		return fmt.Errorf("drop blobs of %s: %w", v, err)
	}
	return nil
}

// fewLists is up to how many drop lists of a version are left as they are.
const fewLists = 16

// DroppedBlobs gives those that v has dropped and that sweeps still have to look
// after. Where they are in many lists, it makes few of them. The owner of v calls
// it, one call at a time.
func (s *Store) DroppedBlobs(ctx context.Context, v svc.Ref) (map[Blob]bool, error) {
	infos, err := objstore.ListAll(ctx, s.data, dropPrefix(v))
	if err != nil {
		return nil, fmt.Errorf("list drop lists of %s: %w", v, err)
	}
	first := map[Blob]uint64{}
	var read []string
	for _, info := range infos {
		list, err := s.readDrops(ctx, info)
		if errors.Is(err, objstore.ErrNotExist) {
			continue // a sweep removed it
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
	if len(read) > fewLists {
		err = s.mergeDrops(ctx, v, first, read)
	}
	dropped := make(map[Blob]bool, len(first))
	for b := range first {
		dropped[b] = true
	}
	return dropped, err
}

// mergeDrops puts what the lists say into few others, and then removes them.
func (s *Store) mergeDrops(ctx context.Context, v svc.Ref, drops map[Blob]uint64, lists []string) error {
	byAt := map[uint64][]string{}
	for b, at := range drops {
		byAt[at] = append(byAt[at], b.Key())
	}
	var all []Dropped
	size := 0
	for _, at := range slices.Sorted(maps.Keys(byAt)) {
		for some := range slices.Chunk(byAt[at], mostDropped) {
			if size+len(some) > mostDropped {
				if err := s.putDrops(ctx, v, all); err != nil {
					return err
				}
				all, size = nil, 0
			}
			all, size = append(all, Dropped{at, some}), size+len(some)
		}
	}
	if size > 0 {
		if err := s.putDrops(ctx, v, all); err != nil {
			return err
		}
	}
	if err := s.data.Delete(ctx, lists...); err != nil {
		return fmt.Errorf("remove drop lists of %s: %w", v, err)
	}
	return nil
}

// dropList is a gc/blobs object as it was read.
type dropList struct {
	key   string
	since time.Time
	drops []dropGroup
}

type dropGroup struct {
	at    uint64
	blobs []Blob
}

// each calls do for every blob of the list.
func (list dropList) each(do func(b Blob, at uint64)) {
	for _, group := range list.drops {
		for _, b := range group.blobs {
			do(b, group.at)
		}
	}
}

func (s *Store) readDrops(ctx context.Context, info objstore.Info) (list dropList, err error) {
	at, err := timeOf(info.Key)
	if err != nil {
		return list, fmt.Errorf("drop list %s: %w", info.Key, err)
	}
	data, _, err := objstore.Read(ctx, s.data, info.Key, 0, -1)
	if err != nil {
		return list, fmt.Errorf("read drop list: %w", err)
	}
	var wire wireDrops
	if err := json.Unmarshal(data, &wire); err != nil {
		return list, fmt.Errorf("drop list %s: %w", info.Key, err)
	}
	if wire.V != manifestVersion {
		return list, fmt.Errorf("drop list %s has version %d; this program reads %d", info.Key, wire.V, manifestVersion)
	}
	list = dropList{key: info.Key, since: later(at, info.Modified)}
	var last svc.Ref
	for _, d := range wire.Drops {
		group := dropGroup{at: d.At, blobs: make([]Blob, 0, len(d.Blobs))}
		for _, key := range d.Blobs {
			b, ok := ParseBlob(key)
			if !ok {
				continue
			}
			if b.Version != last { // else the key need not stay in memory
				last = svc.Ref{Project: strings.Clone(b.Version.Project), Version: strings.Clone(b.Version.Version)}
			}
			b.Version = last
			group.blobs = append(group.blobs, b)
		}
		list.drops = append(list.drops, group)
	}
	return list, nil
}
