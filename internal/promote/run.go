package promote

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/saga"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	// settleLimit bounds what is written after a saga, whose context may be over.
	settleLimit = 10 * time.Second
)

// run is one promotion under way. Whoever has it holds the project's lock.
type run struct {
	*Service
	op    svc.Promotion
	log   *slog.Logger
	began time.Time

	mu     sync.Mutex
	holder *time.Timer // releases a hold that lasts too long
}

func (s *Service) newRun(op svc.Promotion) *run {
	log := s.log.With("project", op.Project, "version", op.Version, "previous", op.Previous, "operation", op.ID)
	return &run{Service: s, op: op, log: log, began: time.Now()}
}

func (r *run) target() svc.Ref   { return svc.Ref{Project: r.op.Project, Version: r.op.Version} }
func (r *run) previous() svc.Ref { return svc.Ref{Project: r.op.Project, Version: r.op.Previous} }
func (r *run) pointer() pointers { return pointers{r.deps.Bucket} }

// toEnd runs the saga until it is done or undone, or the service stops.
func (r *run) toEnd(ctx context.Context) {
	for delay := firstRetry; !r.attempt(ctx); delay = min(delay*2, lastRetry) {
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-r.quit: // the next start resumes it
			timer.Stop()
			return
		}
	}
}

// attempt resumes the saga, or begins it, and reports whether it has ended.
func (r *run) attempt(ctx context.Context) (ended bool) {
	ctx, cancel := r.killable(ctx)
	defer cancel()
	err := r.saga.Resume(ctx, r.deps.Journals.Journal(r.op.ID), r)
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	// Whatever happened, one route, and nobody waits any more.
	publishErr := r.publish(ctx, r.op.Project)
	r.release()
	if errors.Is(err, saga.ErrIncomplete) || publishErr != nil {
		r.log.ErrorContext(ctx, "promotion is not settled, will try again", "error", errors.Join(err, publishErr))
		return false
	}
	return r.finish(ctx, err)
}

// finish writes the outcome down and reports whether that worked.
func (r *run) finish(ctx context.Context, cause error) bool {
	status, text := svc.PromotionDone, ""
	if cause != nil {
		status, text = svc.PromotionFailed, r.failure(ctx)
	}
	r.settle(r.op.Project, true)
	if err := r.deps.Promotions.FinishPromotion(ctx, r.op.ID, status, text); err != nil {
		r.settle(r.op.Project, false)
		r.log.ErrorContext(ctx, "the promotion's outcome was not written, will try again", "status", string(status), "error", err)
		return false
	}
	took := time.Since(r.began)
	r.deps.Observer.PromoteDone(string(status), took.Seconds())
	if cause != nil {
		r.log.ErrorContext(ctx, "promotion failed and was taken back", "error", cause)
		return true
	}
	r.log.InfoContext(ctx, "promoted", "took", took)
	return true
}

// failure is "<step>: <code>: <text>", as the journal kept it: a resumed run
// has no other memory of why it failed.
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

// publish points the gateway at what the registry says.
func (s *Service) publish(ctx context.Context, project string) error {
	p, err := s.deps.Projects.Project(ctx, project)
	if err != nil {
		return err
	}
	s.deps.Gateway.SetProduction(project, p.ProdVersionID)
	return nil
}

// hold makes new requests wait, for a limited time: if the cut-over is slow,
// they go on to the old version, which still serves, instead of failing.
func (r *run) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deps.Gateway.Hold(r.op.Project)
	if r.holder == nil {
		r.holder = time.AfterFunc(r.deps.HoldLimit, func() { r.deps.Gateway.Release(r.op.Project) })
	}
}

func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holder != nil {
		r.holder.Stop()
		r.holder = nil
	}
	r.deps.Gateway.Release(r.op.Project)
}

// killable is ctx, ended when Stop has waited long enough.
func (s *Service) killable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.kill:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
