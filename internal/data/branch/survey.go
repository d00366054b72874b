package branch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// survey is everything that one pass found of a project in the object store.
type survey map[svc.Ref]*member

// member is everything that a survey found of one version.
type member struct {
	ref        svc.Ref
	record     *Record     // nil: never opened
	manifest   *Manifest   // nil: a root, or missing
	forked     time.Time   // when the manifest was created
	registered *Registered // nil: unknown to the registry, or no registry was given
	orphan     bool        // a fork that was not opened within the grace and is unknown to the registry
	lost       bool        // its manifest is missing
	files      []File      // its own log files
	dead       map[id]time.Time
	lists      []deadList
	others     svc.Amount // unknown objects
	hists      []Hist
	keep       History

	blobs        []storedBlob
	unreferenced map[Blob]unreference // recorded by this version, of its own blobs and of its ancestors'
	blobLists    []blobList

	listedRecord, listedManifest bool
}

// id is the part of a File that its name says.
type id struct {
	prefix   string
	level    int
	min, max uint64
}

func (f File) id() id { return id{f.Prefix, f.Level, f.Min, f.Max} }

// inspect surveys a project and adds what the registry says of its versions.
func (s *Store) inspect(ctx context.Context, project string, o SweepOptions) (survey, error) {
	found, err := s.survey(ctx, project)
	for _, m := range found {
		m.keep = o.History
	}
	if err != nil || o.Registry == nil {
		return found, err
	}
	registered, err := o.Registry(ctx)
	if err != nil {
		return nil, fmt.Errorf("read registered versions of %s: %w", project, err)
	}
	for version, r := range registered {
		v := svc.Ref{Project: project, Version: version}
		m := found[v]
		if r.Wanted && r.Forked && (m == nil || m.manifest == nil) {
			there, err := s.Load(ctx, v)
			if err != nil {
				return nil, err
			}
			m = found.of(v)
			m.manifest, m.lost, m.keep = there, there == nil, o.History
		}
		if m != nil && (r.Wanted || !m.ownedElsewhere(o.Node)) {
			m.registered = &r
		}
	}
	for _, m := range found {
		m.orphan = m.registered == nil && m.record == nil && m.listedManifest && time.Since(m.forked) > s.grace
	}
	return found, nil
}

// survey lists the project, then reads its records, manifests and dead lists: in
// this order, so that it sees every fork that needs a listed file. Dead lists made
// since it began are left out, since the files that replaced theirs may not be
// listed.
func (s *Store) survey(ctx context.Context, project string) (survey, error) {
	found, began := survey{}, time.Now()
	var lists []objstore.Info
	note := func(info objstore.Info) error {
		v, rest, ok := splitKey(info.Key)
		switch {
		case !ok:
		case strings.HasPrefix(rest, "gc/dead/"), strings.HasPrefix(rest, "gc/blobs/"):
			found.of(v)
			lists = append(lists, info)
		default:
			found.of(v).note(rest, info)
		}
		return nil
	}
	err := objstore.Each(ctx, s.data, project+"/", note)
	if err == nil && s.manifests != s.data {
		err = objstore.Each(ctx, s.manifests, project+"/", note)
	}
	if err != nil {
		return nil, fmt.Errorf("list project %s: %w", project, err)
	}
	return found, s.readAll(ctx, found, lists, began)
}

// of returns the member of a version, and creates it if it is new.
func (all survey) of(v svc.Ref) *member {
	m := all[v]
	if m == nil {
		m = &member{ref: v, dead: map[id]time.Time{}, unreferenced: map[Blob]unreference{}}
		all[v] = m
	}
	return m
}

// note adds one object of the listing.
func (m *member) note(rest string, info objstore.Info) {
	f, isLog := ParseKey(info.Key)
	switch {
	case rest == "version.json":
		m.listedRecord = true
	case rest == "branch.json":
		m.listedManifest, m.forked = true, info.Modified
	case !isLog && m.noteHist(info):
	case !isLog && !m.noteBlob(info):
		m.others.Add(info.Size)
	case !isLog:
	default:
		f.Prefix = m.intern(f.Prefix)
		f.Size, f.Modified = info.Size, info.Modified
		m.files = append(m.files, f)
	}
}

// noteHist adds a history object of the listing. It reports false for other objects.
func (m *member) noteHist(info objstore.Info) bool {
	h, ok := ParseHist(info.Key)
	if ok {
		h.Prefix, h.Size, h.Modified = m.intern(h.Prefix), info.Size, info.Modified
		if n := len(m.hists); n > 0 && m.hists[n-1].Prefix == h.Prefix {
			h.Prefix = m.hists[n-1].Prefix
		}
		m.hists = append(m.hists, h)
	}
	return ok
}

// intern returns a copy of prefix that does not keep its key in memory: a listing
// is long.
func (m *member) intern(prefix string) string {
	if n := len(m.files); n > 0 && m.files[n-1].Prefix == prefix {
		return m.files[n-1].Prefix
	}
	return strings.Clone(prefix)
}

// width is how many objects a survey reads concurrently.
const width = 8

// readAll reads the records, manifests and lists of the listing, and also the
// record and manifest of a version with files whose listing shows neither: one
// listing alone must not make a version unwanted.
func (s *Store) readAll(ctx context.Context, found survey, lists []objstore.Info, began time.Time) error {
	work, reading := errgroup.WithContext(ctx)
	work.SetLimit(width)
	for _, m := range found {
		if reading.Err() == nil && (m.listedRecord || m.listedManifest || len(m.files)+len(m.blobs)+len(m.hists) > 0) {
			work.Go(func() error { return s.readMember(reading, m) })
		}
	}
	var one sync.Mutex
	for _, info := range lists {
		if reading.Err() == nil {
			work.Go(func() error { return s.readList(reading, found, &one, info, began) })
		}
	}
	if err := work.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (s *Store) readMember(ctx context.Context, m *member) (err error) {
	m.record, err = s.Record(ctx, m.ref)
	if err == nil && (m.listedManifest || m.record == nil) {
		m.manifest, err = s.Load(ctx, m.ref)
	}
	return err
}

// readList adds a list of dead files or of unreferenced blobs to its version. one
// guards found.
func (s *Store) readList(ctx context.Context, found survey, one *sync.Mutex, info objstore.Info, began time.Time) error {
	v, rest, _ := splitKey(info.Key)
	if strings.HasPrefix(rest, "gc/blobs/") {
		list, err := s.readBlobList(ctx, info)
		if err == nil {
			one.Lock()
			defer one.Unlock()
			found[v].noteBlobList(list)
		}
		if errors.Is(err, objstore.ErrNotExist) {
			return nil // another sweep deleted it
		}
		return err
	}
	list, err := s.readDead(ctx, info)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil // another sweep deleted it
	}
	if err != nil || list.since.After(began) {
		return err
	}
	one.Lock()
	defer one.Unlock()
	m := found[v]
	m.lists = append(m.lists, list)
	for _, name := range list.names {
		if old, known := m.dead[name]; !known || list.since.Before(old) {
			m.dead[name] = list.since
		}
	}
	return nil
}
