package promote

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Request is what a client may say about a promotion [D19].
type Request struct {
	ExpectedProd *string // nil expects nothing, "" expects no production
	Reason       string  // for people
}

// Promote begins to make ref production and returns the running promotion; its
// record tells how it goes. Promoting what is production already gives one with
// the status unchanged.
//
// Errors: NotFound; Gone version_destroyed; Conflict version_not_ready or
// promote_in_progress; Precondition production_moved when another version than
// expected is production; Unavailable while the daemon stops.
// spec: POST …/promote.
func (s *Service) Promote(ctx context.Context, ref svc.Ref, req Request) (svc.Promotion, error) {
	end, err := s.begin(ctx, ref.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	op, err := s.create(ctx, ref, req)
	if err != nil || op.Status != svc.PromotionRunning {
		end()
		return op, err
	}
	r := s.newRun(op)
	go func() {
		defer end()
		r.toEnd(context.WithoutCancel(ctx))
	}()
	return op, nil
}

// create checks the request against the records and stores the promotion.
func (s *Service) create(ctx context.Context, ref svc.Ref, req Request) (svc.Promotion, error) {
	p, err := s.deps.Projects.Project(ctx, ref.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil {
		return svc.Promotion{}, err
	}
	if req.ExpectedProd != nil && *req.ExpectedProd != p.ProdVersionID {
		return svc.Promotion{}, svc.Errorf(svc.Precondition, "production_moved",
			"production is %q, not %q", p.ProdVersionID, *req.ExpectedProd).WithHint("read the project again and decide anew")
	}
	op := svc.Promotion{
		ID: "op-" + strings.ToLower(rand.Text()), Project: ref.Project, Version: ref.Version, Previous: p.ProdVersionID,
		Reason: req.Reason, Status: svc.PromotionRunning, CreatedAt: time.Now(),
	}
	if p.ProdVersionID == ref.Version {
		op.Status, op.FinishedAt = svc.PromotionUnchanged, op.CreatedAt
	} else if err := ready(v); err != nil {
		return svc.Promotion{}, err
	}
	if err := s.deps.Promotions.CreatePromotion(ctx, op); err != nil {
		return svc.Promotion{}, err
	}
	return op, nil
}

// ready refuses a version that cannot become production. spec: Promote saga,
// step 1.
func ready(v svc.Version) error {
	if v.Status == svc.StatusReady {
		return nil
	}
	if v.Status == svc.StatusDestroyed {
		return svc.Errorf(svc.Gone, "version_destroyed", "version %s was destroyed", v.Ref)
	}
	err := svc.Errorf(svc.Conflict, "version_not_ready", "version %s is %s; only a ready version can be promoted", v.Ref, v.Status)
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
