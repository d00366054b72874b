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
	released map[id]time.Time  // when a version was destroyed that had inherited the file
	broken   map[svc.Ref]error // versions that cannot say what they need: they keep all they have
}

// Live computes the live set from what the store says alone: one listing, and
// one read for each record, manifest and dead list. Manifests are flat, so no
// chain is walked. A version whose log has a hole keeps all its files, and is
// reported in err beside the set.
func (s *Store) Live(ctx context.Context, project string) (*Live, error) {
	all, err := s.survey(ctx, project)
	if err != nil {
		return nil, err
	}
	live := all.live()
	return live, live.err()
}

// PinnedBy names the versions that need the object, in order; none when it may go.
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

func (all survey) live() *Live {
	l := &Live{pins: map[id][]svc.Ref{}, released: map[id]time.Time{}, broken: map[svc.Ref]error{}}
	for _, m := range all {
		if m.wanted() {
			l.pin(m)
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

// pin adds what a wanted version needs.
func (l *Live) pin(m *member) {
	need, err := m.needs()
	if err != nil {
		l.broken[m.ref] = err
		need = m.everything()
	}
	alone := []svc.Ref{m.ref} // most files are needed by one version, and share this
	for name := range need {
		if by := l.pins[name]; by == nil {
			l.pins[name] = alone
		} else {
			l.pins[name] = append(slices.Clip(by), m.ref)
		}
	}
}

// unwantedSince is when the grace of a file begins that m has buried and nobody
// needs: when it was buried, or later, when the last version went that had
// inherited it. A fork of that one may have been under way.
func (l *Live) unwantedSince(m *member, name id) (since time.Time, buried bool) {
	since, buried = m.dead[name]
	return later(since, l.released[name]), buried
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
