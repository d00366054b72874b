package divergence

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// ReleasePlan returns what a release of a candidate would do. Errors: NotFound.
func (s *Service) ReleasePlan(ctx context.Context, candidate svc.Ref) (svc.ReleasePlan, error) {
	p, err := s.deps.Registry.Project(ctx, candidate.Project)
	if err != nil {
		return svc.ReleasePlan{}, err
	}
	v, err := s.deps.Registry.Version(ctx, candidate)
	if err != nil {
		return svc.ReleasePlan{}, err
	}
	plan := svc.ReleasePlan{
		Project: p.ID, Candidate: v.Version, Status: v.Status, Production: p.ProdVersionID, Migrations: v.Migrated.Names,
		Expected: svc.ExpectedHold(v.Migrated.Took), Limit: s.deps.HoldLimit,
	}
	if p.ProdVersionID == "" {
		plan.Blocked = "no_production: the project has no production whose data a release could continue with"
		return plan, nil
	}
	production, err := s.deps.Registry.Version(ctx, svc.Ref{Project: p.ID, Version: p.ProdVersionID})
	if err != nil {
		return svc.ReleasePlan{}, err
	}
	if candidate != production.Ref { // else what it wrote is production's
		plan.Own = s.Unmerged(ctx, candidate, production.Ref)
	}
	plan.Waiting = s.deps.Waiting(ctx, production.Ref)
	plan.Blocked = s.blocked(plan, v, production)
	return plan, nil
}

// blocked says why a release of v would be refused; "" if it would not.
func (s *Service) blocked(plan svc.ReleasePlan, v, production svc.Version) string {
	if v.Status != svc.StatusReady {
		return "version_not_ready: the version is " + string(v.Status)
	}
	if _, err := s.deps.Forks.Check(v.GitRef, production); err != nil {
		return svc.CodeOf(err) + ": " + svc.AsError(err).Detail
	}
	if plan.Expected > plan.Limit {
		return "release_too_slow: the expected hold is " + plan.Expected.Round(time.Millisecond).String()
	}
	return ""
}
