package promote

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	firstRetry = time.Second
	// lastRetry is short: a promotion or release ends within seconds when the registry and the
	// object store answer again, however long they did not.
	lastRetry = 3 * time.Second
	// sayEvery is the time between two lines about the same thing that is retried.
	sayEvery = 30 * time.Second
	// settleLimit bounds the writes after a saga, whose context may have ended.
	settleLimit = 10 * time.Second
)

// run is one running promotion. Its goroutine holds the project's lock.
type run struct {
	*Service
	op    svc.Promotion
	aside bool // another version continued with the events of the target
	log   *slog.Logger
	began time.Time

	said reminder

	mu    sync.Mutex
	limit *time.Timer // releases a hold after HoldLimit
}

// reminder says when it is time for another line about what is retried.
type reminder struct{ last time.Time }

func (r *reminder) due() bool {
	due := time.Since(r.last) >= sayEvery
	if due {
		r.last = time.Now()
	}
	return due
}

func (s *Service) newRun(op svc.Promotion) *run {
	log := s.log.With("project", op.Project, "version", op.Version, "previous", op.Previous, "operation", op.ID)
	return &run{Service: s, op: op, log: log, began: time.Now()}
}

// newRetry is the waits between the attempts to end a promotion or a release.
func newRetry() backoff.Backoff { return backoff.Backoff{First: firstRetry, Max: lastRetry} }

func (r *run) target() svc.Ref   { return svc.Ref{Project: r.op.Project, Version: r.op.Version} }
func (r *run) previous() svc.Ref { return svc.Ref{Project: r.op.Project, Version: r.op.Previous} }
func (r *run) pointer() pointers { return pointers{r.deps.Bucket} }

// untilDone runs the saga until it is done or undone, or until the service stops:
// then the next start resumes it.
func (r *run) untilDone(ctx context.Context) {
	waiting, cancel := r.work.Until(ctx)
	defer cancel()
	for retry := newRetry(); !r.attempt(ctx); {
		if retry.Sleep(waiting) != nil {
			return
		}
	}
}

// attempt starts or resumes the saga and reports whether it has ended.
func (r *run) attempt(ctx context.Context) (ended bool) {
	r.deps.Gateway.Unshare(r.op.Project)
	err := r.saga.Resume(ctx, r.deps.Journals.Journal(r.op.ID), r)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	// In every case: one route, and no request waits.
	publishErr := r.publish(ctx, r.op.Project)
	r.release()
	if errors.Is(err, saga.ErrIncomplete) || publishErr != nil {
		if r.said.due() {
			r.log.ErrorContext(ctx, "promotion incomplete; retrying", "error", errors.Join(err, publishErr))
		}
		return false
	}
	r.deps.Gateway.Share(r.op.Project)
	return r.finish(ctx, err)
}

// finish writes the outcome and reports whether that succeeded.
func (r *run) finish(ctx context.Context, cause error) bool {
	o := svc.PromotionOutcome{Status: svc.PromotionFailed}
	if cause == nil {
		o = svc.PromotionOutcome{Status: svc.PromotionDone, CutOver: r.deps.Gateway.CutOver(r.op.Project)}
		o.Left = r.left(ctx)
		r.followBundle(ctx, r.target())
	} else {
		o.Error = r.failure(ctx)
	}
	r.settle(r.op.Project, true)
	if err := r.write(ctx, o); err != nil {
		r.settle(r.op.Project, false)
		r.log.ErrorContext(ctx, "writing the outcome of a promotion failed; retrying", "status", string(o.Status), "error", err)
		return false
	}
	took := time.Since(r.began)
	r.deps.Observer.CutOverDone(o.CutOver)
	r.deps.Observer.PromoteDone(string(o.Status), took)
	if cause != nil {
		r.log.ErrorContext(ctx, "promotion failed and was undone", "error", cause)
		r.refreshSecrets(ctx, r.target())
		return true
	}
	r.log.InfoContext(ctx, "promotion done", "duration", took, "held", o.CutOver.Held)
	if r.aside {
		if err := r.deps.Deploys.Reopen(ctx, r.target()); err != nil {
			r.log.WarnContext(ctx, "alarms of the version run after its next start", "error", err)
		}
	}
	r.refreshSecrets(ctx, r.previous())
	return true
}

// refreshSecrets gives a version that is not production the secrets of its own class again.
func (r *run) refreshSecrets(ctx context.Context, ref svc.Ref) {
	if r.deps.RefreshSecrets == nil || ref.Version == "" {
		return
	}
	if err := r.deps.RefreshSecrets(ctx, ref); err != nil {
		r.log.WarnContext(ctx, "restarting a version with the secrets of its class failed", "version", ref.Version, "error", err)
	}
}

// left counts what the old version has that the new one lacks: it has its last requests
// by now, other than those that take longer than DrainWait.
func (r *run) left(ctx context.Context) svc.Left {
	if r.op.Previous == "" || r.deps.Leftovers == nil {
		return svc.Left{}
	}
	ctx, cancel := context.WithTimeout(ctx, r.deps.CountLimit)
	defer cancel()
	return r.deps.Leftovers.Left(ctx, r.previous(), r.target())
}

// write writes the outcome, and after a success the pins of previous productions.
func (r *run) write(ctx context.Context, o svc.PromotionOutcome) error {
	if o.Status == svc.PromotionDone {
		if err := r.deps.Promotions.PinRollback(ctx, r.op, r.deps.RollbackKeep); err != nil {
			return err
		}
	}
	return r.deps.Promotions.FinishPromotion(ctx, r.op.ID, o)
}

// failure returns "<step>: <code>: <text>" of the failed step. It reads the journal,
// because a resumed run has no other record of the cause.
func (r *run) failure(ctx context.Context) string {
	op, err := r.deps.Promotions.Promotion(ctx, r.op.Project, r.op.ID)
	if err != nil {
		return "internal: the journal could not be read"
	}
	for _, step := range op.Steps {
		if step.Status == svc.StepFailed {
			return step.Step + ": " + step.Detail
		}
	}
	return "internal: an earlier step failed"
}

// publish sets the gateway's production to the registry's.
func (s *Service) publish(ctx context.Context, project string) error {
	p, err := s.deps.Projects.Project(ctx, project)
	if err != nil {
		return err
	}
	s.deps.Gateway.SetProduction(project, p.ProdVersionID)
	return nil
}

// hold makes new requests wait, for HoldLimit: if the cut-over takes longer, they
// are sent to the old version, which still serves.
func (r *run) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deps.Gateway.Hold(r.op.Project)
	if r.limit == nil {
		r.limit = time.AfterFunc(r.deps.HoldLimit, func() { r.deps.Gateway.Release(r.op.Project) })
	}
}

func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit != nil {
		r.limit.Stop()
		r.limit = nil
	}
	r.deps.Gateway.Release(r.op.Project)
}
