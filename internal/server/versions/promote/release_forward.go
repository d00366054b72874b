package promote

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// forward does what follows the commit. Nothing of it can undo the release; the next start repeats
// what the end of the server cut off.
func (r *release) forward(ctx context.Context) {
	var late control.Sealing
	_ = r.step(ctx, stepSwitch, func(ctx context.Context) error { late = r.switchOver(ctx); return nil })
	r.letGo()
	o := svc.PromotionOutcome{Status: svc.PromotionDone, CutOver: r.deps.Gateway.CutOver(r.op.Project)}
	r.deploy.End()
	if !r.setPointer(ctx) {
		return // the server stops; the next start writes the pointer and the outcome
	}
	if r.req.LateRequests == svc.LateRefuse { // writes that were refused are worth the wait for their number
		late = r.awaitLate(ctx)
	}
	r.done.LateRefused = late.Refused
	o.Released = r.done
	r.end(ctx, o)
	r.log.InfoContext(ctx, "release done", "duration", time.Since(r.began), "held", o.CutOver.Held, "late_writes_refused", late.Refused)
	r.followBundle(ctx, r.target())
	r.background(ctx, r.apart)
	r.background(ctx, r.archiveCandidate)
}

// switchOver has requests reach the new version, and the old one refuse writes for good.
func (r *release) switchOver(ctx context.Context) control.Sealing {
	refused, err := r.deps.Sealer.Seal(ctx, r.previous(), control.Seal{State: control.SealReleased})
	if err != nil { // it is gone, and wrote nothing after the cut
		r.log.WarnContext(ctx, "the worker host of the old version did not answer the release", "error", err)
	}
	r.deps.Gateway.SetProduction(r.op.Project, r.op.Version)
	r.deps.Gateway.Release(r.op.Project)
	r.deps.Gateway.Share(r.op.Project)
	r.deps.Websockets.CloseWebsockets(r.previous(), svc.RoleProduction, 0)
	return refused
}

// awaitLate waits a moment for the requests that outlasted the drain, and counts what they could
// not write.
func (r *release) awaitLate(ctx context.Context) control.Sealing {
	waiting, cancel := context.WithTimeout(ctx, r.deps.DrainWait)
	defer cancel()
	_ = r.deps.Gateway.DrainProduction(waiting, r.op.Project)
	now, err := r.deps.Sealer.Seal(ctx, r.previous(), control.Seal{State: control.SealReleased})
	if err != nil {
		r.log.InfoContext(ctx, "late writes of the old version not counted", "error", err)
	}
	return now
}

// background runs do until the service stops.
func (r *release) background(ctx context.Context, do func(context.Context)) {
	_ = r.work.Go(ctx, do) // an error means that the server stops
}

// setPointer writes the pointer, however long that takes: a release that is done is not resumed, so
// no later start would write it. It returns false when the service stops before.
func (r *release) setPointer(ctx context.Context) bool {
	waiting, cancel := r.work.Until(ctx)
	defer cancel()
	var said reminder
	for retry := newRetry(); ; {
		err := pointers{r.deps.Bucket}.set(ctx, r.op)
		if err == nil {
			return true
		}
		if said.due() {
			r.log.ErrorContext(ctx, "writing the production pointer failed; retrying", "error", err)
		}
		if retry.Sleep(waiting) != nil {
			return false
		}
	}
}

// archiveCandidate archives a version that was made to rehearse the release, unless it has a pin.
func (r *release) archiveCandidate(ctx context.Context) {
	candidate := svc.Ref{Project: r.op.Project, Version: r.op.Candidate}
	v, err := r.deps.Versions.Version(ctx, candidate)
	if err != nil || v.Events != svc.EventsOff || v.Pinned || v.Production || v.PreviewName != "" {
		return
	}
	if err := r.deps.Deploys.Archive(ctx, candidate); err != nil && ctx.Err() == nil {
		r.log.InfoContext(ctx, "the candidate is not archived", "reason", err)
	}
}

// apartRetry is the time between two attempts to end the process of the old version.
const apartRetry = time.Second

// apart ends the process of the old version when the requests that it began for production are
// over, however long they take. That process never writes again; the next one, which a request to
// the version's own host name starts, began nothing for production.
func (r *release) apart(ctx context.Context) {
	failpoint.Hit("release/" + stepApart + "/started")
	for {
		busy, err := r.deps.Deploys.Retire(ctx, r.previous(), r.stopped)
		if err != nil && ctx.Err() == nil {
			r.log.InfoContext(ctx, "the old version has no process to end", "reason", err)
		}
		if !busy || backoff.Sleep(ctx, apartRetry) != nil {
			break
		}
	}
	failpoint.Hit("release/" + stepApart + "/done")
}

// resumeUntilDone makes one attempt to end a release; if that fails, a goroutine continues.
func (s *Service) resumeUntilDone(ctx context.Context, op svc.Promotion, end func()) {
	if s.resumeRelease(ctx, op) == nil {
		end()
		return
	}
	go func() {
		defer end()
		var said reminder
		for retry := newRetry(); retry.Sleep(ctx) == nil; {
			err := s.resumeRelease(ctx, op)
			if err == nil {
				return
			}
			if said.due() {
				s.log.ErrorContext(ctx, "release incomplete; retrying", "project", op.Project, "operation", op.ID, "error", err)
			}
		}
	}()
}

// resumeRelease ends a release that the end of the server interrupted: forward if the registry
// has committed it, else back.
func (s *Service) resumeRelease(ctx context.Context, op svc.Promotion) error {
	p, err := s.deps.Projects.Project(ctx, op.Project)
	if err != nil {
		return err
	}
	v, err := s.deps.Versions.Version(ctx, svc.Ref{Project: op.Project, Version: op.Version})
	if err != nil {
		return err
	}
	r := s.newRelease(op, v, svc.ReleaseRequest{}, 0)
	if v.ReadyAt.IsZero() {
		r.undone(ctx, stepCommit, svc.Errorf(svc.Unavailable, svc.CodeReleaseInterrupted, "the server ended before the release was committed; production is unchanged").
			WithHint("release again"))
		return nil
	}
	s.deps.Gateway.SetProduction(op.Project, p.ProdVersionID)
	if p.ProdVersionID == op.Version {
		if err := (pointers{s.deps.Bucket}).set(ctx, op); err != nil {
			return err
		}
	}
	r.end(ctx, svc.PromotionOutcome{Status: svc.PromotionDone, Released: r.done})
	r.log.InfoContext(ctx, "release continued after the end of the server")
	return nil
}
