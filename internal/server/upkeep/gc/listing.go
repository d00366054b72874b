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

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// name identifies a log file: the fields of its key.
type name struct {
	prefix   string
	level    int
	min, max uint64
}

func nameOf(f branch.File) name { return name{f.Prefix, f.Level, f.Min, f.Max} }

// listing holds the objects that the audit listed, independently of the sweep.
type listing struct {
	databases map[string][]branch.File // by prefix of the database, in the order of keys
	dead      map[name]time.Time       // files marked for deletion, and since when
	manifests map[svc.Ref]time.Time    // when they were stored
	history   map[string][]branch.Hist // by prefix of the database
	packs     map[string]int64         // sizes of the history objects, by key
}

// list lists the objects below the prefixes.
func (s *Service) list(ctx context.Context, prefixes ...string) (*listing, error) {
	l := &listing{databases: map[string][]branch.File{}, dead: map[name]time.Time{}, manifests: map[svc.Ref]time.Time{}, history: map[string][]branch.Hist{}, packs: map[string]int64{}}
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
			return nil, fmt.Errorf("listing %s: %w", prefix, err)
		}
	}
	for _, info := range lists {
		if err := s.readDead(ctx, info, l); err != nil {
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
	if h, ok := branch.ParseHist(info.Key); ok {
		l.history[h.Prefix] = append(l.history[h.Prefix], h)
		l.packs[info.Key] = info.Size
		return
	}
	f, ok := branch.ParseKey(info.Key)
	if !ok {
		return
	}
	f.Size, f.Modified = info.Size, info.Modified
	files := l.databases[f.Prefix]
	if len(files) > 0 {
		f.Prefix = files[0].Prefix // share one string, so that the key is not kept in memory
	} else {
		f.Prefix = strings.Clone(f.Prefix)
	}
	l.databases[f.Prefix] = append(files, f)
}

// split returns the version that a key belongs to, and the rest of the key.
func split(key string) (v svc.Ref, rest string) {
	project, after, _ := strings.Cut(key, "/")
	version, rest, _ := strings.Cut(after, "/")
	return svc.Ref{Project: project, Version: version}, rest
}

// readDead reads a dead list: files marked for deletion since the later of the time in
// its name and its modification time.
func (s *Service) readDead(ctx context.Context, info objstore.Info, l *listing) error {
	data, _, err := objstore.Read(ctx, s.deps.Data, info.Key, 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil // a sweep has deleted it
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", info.Key, err)
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
			if old, known := l.dead[n]; !known || since.Before(old) {
				l.dead[n] = since
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

// find returns the listed file with the name of f. A file in a history object has the size of its place there,
// or less if the object ends before it does.
func (l *listing) find(f branch.File) (found branch.File, ok bool) {
	if f.Pack != "" {
		size, ok := l.packs[f.Pack]
		found = f
		found.Size = min(f.Size, max(0, size-f.Off))
		return found, ok
	}
	files := l.databases[f.Prefix]
	i, ok := slices.BinarySearchFunc(files, f, func(a, b branch.File) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Min, b.Min), cmp.Compare(a.Max, b.Max))
	})
	if ok {
		found = files[i]
	}
	return found, ok
}

// own returns the log files of a version by the names of its databases.
func (l *listing) own(v svc.Ref) map[string][]branch.File {
	databases := map[string][]branch.File{}
	for prefix, files := range l.databases {
		if name, ok := strings.CutPrefix(prefix, v.String()+"/db/"); ok {
			databases[name] = files
		}
	}
	return databases
}
