package promote

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Promote starts to make ref production and returns the running promotion; its
// record shows the progress. For the current production it returns a promotion with
// the status unchanged.
//
// Errors: NotFound; Gone version_destroyed; Conflict version_not_ready,
// version_not_serving, promote_leaves_writes or promote_in_progress; Precondition production_moved if the
// production is not the expected one; Unavailable shutting_down.
// spec: [C8.1] [C8.2].
func (s *Service) Promote(ctx context.Context, ref svc.Ref, req svc.PromoteRequest) (svc.Promotion, error) {
	own, end, err := s.begin(ctx, ref.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	op, err := s.create(ctx, ref, req)
	if err == nil && op.Status == svc.PromotionUnchanged {
		s.deps.Observer.PromoteDone(string(op.Status), 0)
	}
	if err != nil || op.Status != svc.PromotionRunning {
		end()
		return op, err
	}
	r := s.newRun(op)
	go func() {
		defer end()
		r.untilDone(own)
	}()
	return op, nil
}

// create checks the request and stores the promotion.
func (s *Service) create(ctx context.Context, ref svc.Ref, req svc.PromoteRequest) (svc.Promotion, error) {
	p, err := s.deps.Projects.Project(ctx, ref.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil {
		return svc.Promotion{}, err
	}
	if req.ExpectedProd != nil && *req.ExpectedProd != p.ProdVersionID {
		return svc.Promotion{}, svc.Errorf(svc.Precondition, svc.CodeProductionMoved,
			"production is %q, not %q", p.ProdVersionID, *req.ExpectedProd).WithHint("read the project again and retry with its current production")
	}
	op := svc.Promotion{
		ID: "op-" + strings.ToLower(rand.Text()), Project: ref.Project, Version: ref.Version, Previous: p.ProdVersionID,
		Reason: req.Reason, Status: svc.PromotionRunning, CreatedAt: time.Now(),
	}
	if p.ProdVersionID == ref.Version {
		op.Status, op.FinishedAt = svc.PromotionUnchanged, op.CreatedAt
	} else if err := s.allows(ctx, p, v, req); err != nil {
		return svc.Promotion{}, err
	}
	if err := s.deps.Promotions.CreatePromotion(ctx, op); err != nil {
		return svc.Promotion{}, err
	}
	return op, nil
}

// allows returns an error for a version that cannot become production of p now.
func (s *Service) allows(ctx context.Context, p svc.Project, v svc.Version, req svc.PromoteRequest) error {
	if err := ready(v); err != nil {
		return err
	}
	if err := s.guard(ctx, p, v, req); err != nil {
		return err
	}
	return s.serves(ctx, v)
}

// serves starts the runtime of a ready version that does not serve, within StepLimit.
func (s *Service) serves(ctx context.Context, v svc.Version) error {
	ctx, cancel := context.WithTimeout(ctx, s.deps.StepLimit)
	defer cancel()
	return s.deps.Runtimes.Revive(ctx, v.Ref)
}

// ready returns an error for a version that cannot become production. spec: [C8.5].
func ready(v svc.Version) error {
	if v.Status == svc.StatusReady {
		return nil
	}
	if v.Status == svc.StatusDestroyed {
		return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", v.Ref)
	}
	err := svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s; only a ready version can be promoted", v.Ref, v.Status)
	switch {
	case v.Status == svc.StatusArchived:
		err = err.WithHint("wake it first")
	case v.Status.InDeploy():
		err = err.WithHint("wait until it is ready")
	case v.Status == svc.StatusFailed:
		err = err.WithHint("create a new version")
	}
	return err
}
