package branch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Live is the set of log files that the versions of a project need.
type Live struct {
	pins   map[string][]svc.Ref
	broken map[svc.Ref]error // versions that cannot say what they need: they keep all they have
}

// Live computes the live set: one listing, and one read for each record,
// manifest and dead list. Manifests are flat, so no chain is walked. A version
// whose log has a hole keeps all its files, and is reported in err beside the set.
func (s *Store) Live(ctx context.Context, project string) (*Live, error) {
	all, err := s.survey(ctx, project)
	if err != nil {
		return nil, err
	}
	live := all.live()
	return live, live.err()
}

// PinnedBy names the versions that need the object, in order; none when it may go.
func (l *Live) PinnedBy(key string) []svc.Ref { return l.pins[key] }

func (l *Live) err() error {
	var errs []error
	for _, err := range l.broken {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (all survey) live() *Live {
	l := &Live{pins: map[string][]svc.Ref{}, broken: map[svc.Ref]error{}}
	for _, m := range all {
		if !m.wanted() {
			continue
		}
		need, err := m.needs()
		if err != nil {
			l.broken[m.ref] = err
			need = m.everything()
		}
		for key := range need {
			l.pins[key] = append(l.pins[key], m.ref)
		}
	}
	for _, by := range l.pins {
		slices.SortFunc(by, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
	}
	return l
}

func (m *member) everything() map[string]bool {
	all := map[string]bool{}
	for _, files := range m.byStore() {
		for _, f := range files {
			all[f.Key()] = true
		}
	}
	return all
}
