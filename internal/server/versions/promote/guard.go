package promote

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// guard refuses a promote that leaves writes of production behind, in a project that asks for it
// and without the consent of the caller [D54]. It counts before the promotion is recorded: no
// request waits for it.
func (s *Service) guard(ctx context.Context, p svc.Project, v svc.Version, req svc.PromoteRequest) error {
	if !p.Guard || req.LeaveWrites || p.ProdVersionID == "" {
		return nil
	}
	u := s.unmerged(ctx, svc.Ref{Project: p.ID, Version: p.ProdVersionID}, v.Ref)
	if u.None() {
		return nil
	}
	err := svc.Errorf(svc.Conflict, svc.CodePromoteLeaves, "%s", leaves(u, p.ProdVersionID, v.Version)).
		WithHint("release %s, which keeps every write (svcctl release %s), or leave the writes behind with leave_writes (--leave-writes)", v.Version, v.Ref)
	err.Unmerged = &u
	return err
}

// unmerged counts within StepLimit what production has that target lacks.
func (s *Service) unmerged(ctx context.Context, production, target svc.Ref) svc.Unmerged {
	ctx, cancel := context.WithTimeout(ctx, s.deps.StepLimit)
	defer cancel()
	if s.deps.Leftovers != nil {
		if left := s.deps.Leftovers.Left(ctx, production, target); left.Unmerged != nil {
			return *left.Unmerged
		}
	}
	return svc.Unmerged{Reason: svc.NoCutUnavailable}
}

// followBundle turns the guard of a project on if the bundle of its production asks for it. A version
// that is not production changes nothing: else a pull request could [D55]. An error is logged, because the
// version is production already.
func (s *Service) followBundle(ctx context.Context, ref svc.Ref) {
	if s.deps.Guards == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.deps.CountLimit)
	defer cancel()
	if err := s.turnOn(ctx, ref); err != nil {
		s.log.WarnContext(ctx, "guard of the bundle not read; the project keeps its own", "project", ref.Project, "version", ref.Version, "error", err)
	}
}

func (s *Service) turnOn(ctx context.Context, ref svc.Ref) error {
	p, err := s.deps.Projects.Project(ctx, ref.Project)
	if err != nil || p.Guard || p.ProdVersionID != ref.Version {
		return err
	}
	on, err := s.deps.Guards(ctx, ref)
	if err != nil || !on {
		return err
	}
	_, err = s.deps.Projects.ChangeProject(ctx, ref.Project, svc.ProjectChange{Guard: &on})
	return err
}

// leaves says what a promote would leave behind, or why that is not known.
func leaves(u svc.Unmerged, production, target string) string {
	switch u.Reason {
	case svc.NoCutUnrelated:
		return fmt.Sprintf("version %s has none of the data of production %s: no version is an ancestor of both", target, production)
	case svc.NoCutLost:
		return fmt.Sprintf("the writes of production %s that version %s lacks cannot be counted: the record of the fork is deleted", production, target)
	case svc.NoCutUnavailable:
		return fmt.Sprintf("the writes of production %s that version %s lacks could not be counted in time", production, target)
	case svc.NoCutNone:
	}
	return fmt.Sprintf("production %s has writes that version %s lacks: %s", production, target, u.Words())
}
