package promote

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// assignLimit bounds an assignment, which may wait for the end of a promotion.
const assignLimit = 15 * time.Second

// HoldFirst makes requests to the production host name of a project without
// production wait until release: a client that reads the project's first version as
// ready is served there. If the project has a production, HoldFirst and release do
// nothing.
func (s *Service) HoldFirst(ctx context.Context, project string) (release func()) {
	p, err := s.deps.Projects.Project(ctx, project)
	if err != nil || p.ProdVersionID != "" { // AssignFirst returns the error
		return func() {}
	}
	s.deps.Gateway.Hold(project)
	return func() { s.deps.Gateway.Release(project) }
}

// AssignFirst makes ref production if its project has none, else it does nothing.
// It is idempotent: a repeat after an error completes the assignment.
// spec: [C3.5].
func (s *Service) AssignFirst(ctx context.Context, ref svc.Ref) error {
	p, err := s.deps.Projects.Project(ctx, ref.Project)
	if err != nil || p.ProdVersionID != "" && p.ProdVersionID != ref.Version {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, assignLimit)
	defer cancel()
	_, unlock, err := s.locks.Lock(ctx, ref.Project)
	if err != nil {
		return err
	}
	defer unlock()
	if p, err = s.deps.Projects.Project(ctx, ref.Project); err != nil {
		return err
	}
	if p.ProdVersionID == "" {
		err := s.deps.Projects.SetProduction(ctx, ref.Project, "", ref.Version)
		if errors.Is(err, svc.Precondition) {
			return nil
		}
		if err != nil {
			return err
		}
		s.log.InfoContext(ctx, "first ready version assigned as production", "project", ref.Project, "version", ref.Version)
	} else if p.ProdVersionID != ref.Version {
		return nil
	}
	s.deps.Gateway.SetProduction(ref.Project, ref.Version)
	s.deps.Gateway.Release(ref.Project) // before the bundle and the pointer object, which may be slow
	s.followBundle(ctx, ref)
	return s.untilWritten(ctx, s.log.With("project", ref.Project, "version", ref.Version), func() error { return pointers{s.deps.Bucket}.assign(ctx, ref) })
}
