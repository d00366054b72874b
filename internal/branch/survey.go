package branch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	files    []File    // its own log files
	dead     map[string]time.Time
	lists    []deadRef
	others   []objstore.Info // blobs and what this program does not know
}

// deadRef is a dead list and what it names.
type deadRef struct {
	key  string
	keys []string
}

// wanted tells whether the version's data is for anything: a manifest alone
// counts, its child may be about to open for the first time.
func (m *member) wanted() bool {
	if m.record == nil {
		return m.manifest != nil
	}
	return m.record.State != StateDestroying
}

// survey lists the project and reads its records, manifests and dead lists.
func (s *Store) survey(ctx context.Context, project string) (survey, error) {
	infos, err := objstore.ListAll(ctx, s.data, project+"/")
	if err == nil && s.manifests != s.data {
		var more []objstore.Info
		more, err = objstore.ListAll(ctx, s.manifests, project+"/")
		infos = append(infos, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("list project %s: %w", project, err)
	}
	found := survey{}
	for _, info := range infos {
		v, rest, ok := splitKey(info.Key)
		if !ok {
			continue
		}
		m := found[v]
		if m == nil {
			m = &member{ref: v, dead: map[string]time.Time{}}
			found[v] = m
		}
		if err := s.note(ctx, m, rest, info); err != nil {
			return nil, err
		}
	}
	return found, s.askDirectly(ctx, found)
}

// askDirectly reads the records that the listing did not show: being unwanted
// must not hang on one listing alone.
func (s *Store) askDirectly(ctx context.Context, found survey) (err error) {
	for _, m := range found {
		if m.record != nil {
			continue
		}
		if m.record, err = s.Record(ctx, m.ref); err == nil && m.manifest == nil {
			m.manifest, err = s.Load(ctx, m.ref)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note adds one object to what is known of its version.
func (s *Store) note(ctx context.Context, m *member, rest string, info objstore.Info) (err error) {
	switch {
	case rest == "version.json":
		m.record, err = s.Record(ctx, m.ref)
	case rest == "branch.json":
		m.manifest, err = s.Load(ctx, m.ref)
	case strings.HasPrefix(rest, "gc/dead/"):
		err = s.noteDead(ctx, m, info)
	default:
		f, ok := ParseKey(info.Key)
		if !ok {
			m.others = append(m.others, info)
			return nil
		}
		f.Size, f.Modified = info.Size, info.Modified
		m.files = append(m.files, f)
	}
	return err
}

func (s *Store) noteDead(ctx context.Context, m *member, info objstore.Info) error {
	keys, since, err := s.readDead(ctx, info)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil // another sweep removed it
	}
	if err != nil {
		return err
	}
	m.lists = append(m.lists, deadRef{info.Key, keys})
	for _, key := range keys {
		if old, known := m.dead[key]; !known || since.Before(old) {
			m.dead[key] = since
		}
	}
	return nil
}

// byStore groups the files that a version's stores are restored from: its own
// and those of its manifest.
func (m *member) byStore() map[string][]File {
	stores := map[string][]File{}
	for _, f := range m.files {
		name := f.Prefix[strings.LastIndexByte(f.Prefix, '/')+1:]
		stores[name] = append(stores[name], f)
	}
	if m.manifest != nil {
		for name, base := range m.manifest.Stores {
			stores[name] = append(stores[name], base.Files...)
		}
	}
	return stores
}

// needs gives the keys that a wanted version cannot do without: its manifest,
// every file of its own that is not dead, its current restore plans, and the
// newest level 0 file of each store, from which readers learn its position. It
// fails when the version could not be restored without its dead files: then
// the dead lists are wrong and nothing of it may be deleted.
func (m *member) needs() (map[string]bool, error) {
	need := map[string]bool{}
	if m.manifest != nil {
		for _, base := range m.manifest.Stores {
			for _, f := range base.Files {
				need[f.Key()] = true
			}
		}
	}
	for store, files := range m.byStore() {
		end, hole := Position(files)
		if hole {
			return nil, fmt.Errorf("store %s of %s has a hole after transaction %d", store, m.ref, end)
		}
		alive := slices.DeleteFunc(slices.Clone(files), func(f File) bool {
			_, dead := m.dead[f.Key()]
			return dead && (f.Level != 0 || f.Max != end)
		})
		if _, err := Plan(alive, end); err != nil {
			return nil, fmt.Errorf("store %s of %s, without its dead files: %w", store, m.ref, err)
		}
		for _, f := range alive {
			need[f.Key()] = true
		}
	}
	return need, nil
}

func isTaken(err error) bool { return errors.Is(err, objstore.ErrPrecondition) }
