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
	if p.ProdVersionID == "" || p.ProdVersionID == v.Version {
		plan.Blocked = "no_production: the project has no other production version"
		return plan, nil
	}
	production := svc.Ref{Project: p.ID, Version: p.ProdVersionID}
	plan.Own = s.Unmerged(ctx, candidate, production)
	plan.Waiting = s.deps.Waiting(ctx, production)
	switch {
	case v.Status != svc.StatusReady:
		plan.Blocked = "version_not_ready: the version is " + string(v.Status)
	case plan.Expected > plan.Limit:
		plan.Blocked = "release_too_slow: the expected hold is " + plan.Expected.Round(time.Millisecond).String()
	}
	return plan, nil
}
