package gc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// name is a log file without what its key does not say.
type name struct {
	prefix   string
	level    int
	min, max uint64
}

func nameOf(f branch.File) name { return name{f.Prefix, f.Level, f.Min, f.Max} }

// listing is what the audit saw, made without the sweep's own.
type listing struct {
	stores    map[string][]branch.File // by the prefix of the store, in the order of keys
	buried    map[name]time.Time       // marked for deletion, and since when
	manifests map[svc.Ref]time.Time    // when they were stored
}

// list reads what lies below the prefixes.
func (s *Service) list(ctx context.Context, prefixes ...string) (*listing, error) {
	l := &listing{stores: map[string][]branch.File{}, buried: map[name]time.Time{}, manifests: map[svc.Ref]time.Time{}}
	var lists []objstore.Info
	for _, prefix := range prefixes {
		err := objstore.Each(ctx, s.deps.Data, prefix, func(info objstore.Info) error {
			if strings.Contains(info.Key, "/gc/dead/") {
				lists = append(lists, info)
			} else {
				l.note(info)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
	}
	for _, info := range lists {
		if err := s.readBuried(ctx, info, l); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *listing) note(info objstore.Info) {
	if v, rest := split(info.Key); rest == "branch.json" {
		l.manifests[v] = info.Modified
		return
	}
	f, ok := branch.ParseKey(info.Key)
	if !ok {
		return
	}
	f.Size, f.Modified = info.Size, info.Modified
	files := l.stores[f.Prefix]
	if len(files) > 0 {
		f.Prefix = files[0].Prefix // the key need not stay in memory
	} else {
		f.Prefix = strings.Clone(f.Prefix)
	}
	l.stores[f.Prefix] = append(files, f)
}

// split gives the version that a key belongs to, and the rest.
func split(key string) (v svc.Ref, rest string) {
	project, after, _ := strings.Cut(key, "/")
	version, rest, _ := strings.Cut(after, "/")
	return svc.Ref{Project: project, Version: version}, rest
}

// readBuried notes what a list marks for deletion, since the later of what its
// name and the store say.
func (s *Service) readBuried(ctx context.Context, info objstore.Info, l *listing) error {
	data, _, err := objstore.Read(ctx, s.deps.Data, info.Key, 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil // a sweep removed it
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", info.Key, err)
	}
	hex := strings.TrimSuffix(info.Key[strings.LastIndexByte(info.Key, '/')+1:], ".json")
	nanos, err := strconv.ParseInt(hex, 16, 64)
	if err != nil {
		return fmt.Errorf("name of %s: %w", info.Key, err)
	}
	var dead struct {
		Keys []string `json:"keys"`
	}
	if err := json.Unmarshal(data, &dead); err != nil {
		return fmt.Errorf("%s: %w", info.Key, err)
	}
	since := later(time.Unix(0, nanos), info.Modified)
	for _, key := range dead.Keys {
		if f, ok := branch.ParseKey(key); ok {
			n := nameOf(f)
			if old, known := l.buried[n]; !known || since.Before(old) {
				l.buried[n] = since
			}
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// find gives the file that was listed under the name of f.
func (l *listing) find(f branch.File) (found branch.File, ok bool) {
	files := l.stores[f.Prefix]
	i, ok := slices.BinarySearchFunc(files, f, func(a, b branch.File) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Min, b.Min), cmp.Compare(a.Max, b.Max))
	})
	if ok {
		found = files[i]
	}
	return found, ok
}

// own gives the log files of a version by the names of its stores.
func (l *listing) own(v svc.Ref) map[string][]branch.File {
	stores := map[string][]branch.File{}
	for prefix, files := range l.stores {
		if store, ok := strings.CutPrefix(prefix, v.String()+"/db/"); ok {
			stores[store] = files
		}
	}
	return stores
}
