package promote

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// assignLimit bounds an assignment, which may wait for a promotion to end.
const assignLimit = 15 * time.Second

// HoldFirst has requests to the production host of a project without production
// wait until release, so that whoever sees its first version ready is served
// there. Nothing is held, and release does nothing, when there is a production.
func (s *Service) HoldFirst(ctx context.Context, project string) (release func()) {
	p, err := s.deps.Projects.Project(ctx, project)
	if err != nil || p.ProdVersionID != "" { // the assignment will say what is wrong
		return func() {}
	}
	s.deps.Gateway.Hold(project)
	return func() { s.deps.Gateway.Release(project) }
}

// AssignFirst makes ref production if its project has none: of several versions
// that become ready at the same time, one wins, and losing is no error. Repeat
// it after an error: it finishes what it began.
// spec: Resources and their fields, Project.
func (s *Service) AssignFirst(ctx context.Context, ref svc.Ref) error {
	p, err := s.deps.Projects.Project(ctx, ref.Project)
	if err != nil || p.ProdVersionID != "" && p.ProdVersionID != ref.Version {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, assignLimit)
	defer cancel()
	unlock, err := s.locks.acquire(ctx, ref.Project)
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
		s.log.InfoContext(ctx, "first ready version is production", "project", ref.Project, "version", ref.Version)
	} else if p.ProdVersionID != ref.Version {
		return nil
	}
	s.deps.Gateway.SetProduction(ref.Project, ref.Version)
	s.deps.Gateway.Release(ref.Project) // of HoldFirst: the pointer object may take its time
	return pointers{s.deps.Bucket}.assign(ctx, ref)
}
