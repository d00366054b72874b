package branch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Live is the set of log files that the versions of a project need.
type Live struct {
	pins     map[id][]svc.Ref
	released map[id]time.Time  // when the last destroyed version that inherited the file released it
	broken   map[svc.Ref]error // versions whose needs are unknown: they keep all their files
}

// Live computes the live set from the object store alone: one listing, and one
// read for each record, manifest and dead list. Manifests are complete, so no
// ancestor is read for its child. A version whose log has a hole keeps all its
// files and is reported in err, beside the set.
func (s *Store) Live(ctx context.Context, project string) (*Live, error) {
	all, err := s.survey(ctx, project)
	if err != nil {
		return nil, err
	}
	live := all.live(s.grace)
	return live, live.err()
}

// PinnedBy lists the versions that need the object, in order. It is empty when the
// object may be deleted.
func (l *Live) PinnedBy(key string) []svc.Ref {
	f, _ := ParseKey(key)
	return l.pins[f.id()]
}

func (l *Live) err() error {
	var errs []error
	for _, err := range l.broken {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (all survey) live(grace time.Duration) *Live {
	l := &Live{pins: map[id][]svc.Ref{}, released: map[id]time.Time{}, broken: map[svc.Ref]error{}}
	for _, m := range all {
		if m.wanted() {
			l.pin(m, grace)
		} else {
			at := m.released()
			m.eachInherited(func(f File) { l.released[f.id()] = later(l.released[f.id()], at) })
		}
	}
	for _, by := range l.pins {
		if len(by) > 1 {
			slices.SortFunc(by, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
		}
	}
	return l
}

// pin adds the files that a wanted version needs.
func (l *Live) pin(m *member, grace time.Duration) {
	need, err := m.needs(grace)
	if err != nil {
		l.broken[m.ref] = err
		need = m.everything()
	}
	alone := []svc.Ref{m.ref} // shared by all files that one version needs, which is most of them
	for name := range need {
		if by := l.pins[name]; by == nil {
			l.pins[name] = alone
		} else {
			l.pins[name] = append(slices.Clip(by), m.ref)
		}
	}
}

// unwantedSince is when the grace of a dead file of m begins that no version
// needs: when it was marked dead or, if later, when the last version that had
// inherited it was destroyed, since a fork of that version may have been in
// progress.
func (l *Live) unwantedSince(m *member, name id) (since time.Time, dead bool) {
	since, dead = m.dead[name]
	return later(since, l.released[name]), dead
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
