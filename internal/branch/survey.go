package branch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// survey is all that the store holds of a project at one look.
type survey map[svc.Ref]*member

// member is what a survey found of one version.
type member struct {
	ref      svc.Ref
	record   *Record   // nil: never opened
	manifest *Manifest // nil: a root, or nothing
	forked   time.Time // when the store got the manifest
	fate     *Fate     // nil: the registry does not know it, or was not asked
	orphan   bool      // a fork that nobody opened within the grace, and unknown to the registry
	lost     bool      // it must have a manifest, and has none
	files    []File    // its own log files
	dead     map[id]time.Time
	lists    []deadList
	others   svc.Amount // what this program does not know

	blobs     []storedBlob
	drops     map[Blob]dropped // by this version, of its own blobs and of ancestors'
	dropLists []dropList

	listedRecord, listedManifest bool
}

// id is a File without what its name does not say.
type id struct {
	prefix   string
	level    int
	min, max uint64
}

func (f File) id() id { return id{f.Prefix, f.Level, f.Min, f.Max} }

// look surveys a project and asks what its versions are for.
func (s *Store) look(ctx context.Context, project string, o SweepOptions) (survey, error) {
	found, err := s.survey(ctx, project)
	if err != nil || o.Fates == nil {
		return found, err
	}
	fates, err := o.Fates(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask what the versions of %s are for: %w", project, err)
	}
	for version, fate := range fates {
		v := svc.Ref{Project: project, Version: version}
		m := found[v]
		if fate.Wanted && fate.Forked && (m == nil || m.manifest == nil) {
			there, err := s.Load(ctx, v)
			if err != nil {
				return nil, err
			}
			m = found.of(v)
			m.manifest, m.lost = there, there == nil
		}
		if m != nil && (fate.Wanted || !m.elsewhere(o.Host)) {
			m.fate = &fate
		}
	}
	for _, m := range found {
		m.orphan = m.fate == nil && m.record == nil && m.listedManifest && time.Since(m.forked) > s.grace
	}
	return found, nil
}

// survey lists the project, then reads its records, manifests and dead lists: in
// this order, so that every fork is known that needs a listed file. Dead lists
// made since it began are left out: what replaces their files need not be listed.
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

// of is the member of a version, made if it is new.
func (all survey) of(v svc.Ref) *member {
	m := all[v]
	if m == nil {
		m = &member{ref: v, dead: map[id]time.Time{}, drops: map[Blob]dropped{}}
		all[v] = m
	}
	return m
}

// note adds one object of the listing to what is known of its version.
func (m *member) note(rest string, info objstore.Info) {
	f, isLog := ParseKey(info.Key)
	switch {
	case rest == "version.json":
		m.listedRecord = true
	case rest == "branch.json":
		m.listedManifest, m.forked = true, info.Modified
	case !isLog && !m.noteBlob(info):
		m.others.Add(info.Size)
	case !isLog:
	default:
		f.Prefix = m.intern(f.Prefix)
		f.Size, f.Modified = info.Size, info.Modified
		m.files = append(m.files, f)
	}
}

// intern gives prefix without the key it is a part of: a listing is long, and
// its keys need not stay in memory.
func (m *member) intern(prefix string) string {
	if n := len(m.files); n > 0 && m.files[n-1].Prefix == prefix {
		return m.files[n-1].Prefix
	}
	return strings.Clone(prefix)
}

// width is how many objects of a survey are read at once.
const width = 8

// readAll reads what the listing showed. A version with files whose record or
// manifest it did not show is asked for them: being unwanted must not hang on
// one listing alone.
func (s *Store) readAll(ctx context.Context, found survey, lists []objstore.Info, began time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	slots := make(chan struct{}, width)
	do := func(read func() error) {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			if err := read(); err != nil {
				cancel(err)
			}
		})
	}
	for _, m := range found {
		if ctx.Err() == nil && (m.listedRecord || m.listedManifest || len(m.files)+len(m.blobs) > 0) {
			do(func() error { return s.readMember(ctx, m) })
		}
	}
	var one sync.Mutex
	for _, info := range lists {
		if ctx.Err() == nil {
			do(func() error { return s.readList(ctx, found, &one, info, began) })
		}
	}
	work.Wait()
	return context.Cause(ctx)
}

func (s *Store) readMember(ctx context.Context, m *member) (err error) {
	m.record, err = s.Record(ctx, m.ref)
	if err == nil && (m.listedManifest || m.record == nil) {
		m.manifest, err = s.Load(ctx, m.ref)
	}
	return err
}

// readList adds a dead list or a drop list to its version, one at a time.
func (s *Store) readList(ctx context.Context, found survey, one *sync.Mutex, info objstore.Info, began time.Time) error {
	v, rest, _ := splitKey(info.Key)
	if strings.HasPrefix(rest, "gc/blobs/") {
		list, err := s.readDrops(ctx, info)
		if err == nil {
			one.Lock()
			defer one.Unlock()
			found[v].noteDrops(list)
		}
		if errors.Is(err, objstore.ErrNotExist) {
			return nil // another sweep removed it
		}
		return err
	}
	list, err := s.readDead(ctx, info)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil // another sweep removed it
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
