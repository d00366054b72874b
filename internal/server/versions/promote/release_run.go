package promote

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// The steps of a release, in order: names in the journal, of failpoints and in metrics. Before the
// end of commit a release goes back, after it forward.
const (
	stepStage   = "stage"   // the new version has all but its data
	stepSettle  = "settle"  // machines ask the server for each request; the object store is not behind
	stepDrain   = "drain"   // new requests wait; those in flight end
	stepPause   = "pause"   // no event begins; those under way end
	stepSeal    = "seal"    // writes wait; the cut is in the object store
	stepFork    = "fork"    // the new version begins there
	stepPrepare = "prepare" // it opens the data at the cut and applies migrations
	stepCheck   = "check"   // it serves, and answers
	stepCommit  = "commit"  // it is production in the registry
	stepSwitch  = "switch"  // requests reach it; the old version refuses writes
	stepApart   = "apart"   // the process of the old version has ended
)

// release is one running release. Its goroutine holds the project's lock.
type release struct {
	*Service
	op    svc.Promotion
	v     svc.Version // that it makes
	req   svc.ReleaseRequest
	limit time.Duration // of the hold
	log   *slog.Logger
	began time.Time

	deploy   Deploy
	manifest *bundle.Manifest
	hold     time.Time // its begin; zero without one
	stopped  bool      // the workerd of the old version stays stopped since the seal
	letGo    func()    // ends the exclusion of others from the old version; set by a commit
	cutOff   bool      // the service stopped before the commit was in the copy of the registry
	steps    []svc.StepRun
	done     svc.Released
}

func (s *Service) newRelease(op svc.Promotion, v svc.Version, req svc.ReleaseRequest, limit time.Duration) *release {
	log := s.log.With("project", op.Project, "version", op.Version, "previous", op.Previous, "candidate", op.Candidate, "operation", op.ID)
	return &release{Service: s, op: op, v: v, req: req, limit: limit, log: log, began: time.Now(), done: op.Released}
}

func (r *release) target() svc.Ref { return svc.Ref{Project: r.op.Project, Version: r.op.Version} }

func (r *release) previous() svc.Ref { return svc.Ref{Project: r.op.Project, Version: r.op.Previous} }

// do runs the release to its end.
func (r *release) do(ctx context.Context) {
	failed, err := r.untilCommit(ctx)
	if err != nil {
		r.undone(ctx, failed, err)
		return
	}
	if r.cutOff { // the next start, or the machine that takes over, does what its registry says
		r.letGo()
		r.deploy.End()
		return
	}
	r.forward(context.WithoutCancel(ctx))
}

// untilCommit does all that can be undone, and undoes the hold when it fails. The error is of
// the step failed.
func (r *release) untilCommit(ctx context.Context) (failed string, err error) {
	if err := r.step(ctx, stepStage, r.stage); err != nil {
		return stepStage, err
	}
	for try := range settleTries {
		if err := r.serves(ctx); err != nil {
			return stepSettle, err
		}
		failed, again, err := r.settled(ctx)
		if !again || try == settleTries-1 {
			return failed, err
		}
	}
	return "", nil
}

// settleTries bounds how often production may fall asleep or crash before the hold.
const settleTries = 3

// serves returns when production serves, which may sleep or wait after a crash.
func (r *release) serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.deps.StepLimit)
	defer cancel()
	if err := r.deps.Deploys.Awake(ctx, r.previous()); err != nil {
		return err
	}
	return r.deps.Runtimes.Revive(ctx, r.previous())
}

// settled does the steps from settle on, while no other service starts or stops production: until
// the switch, if nothing fails. again reports that production fell asleep or crashed before the hold.
func (r *release) settled(ctx context.Context) (failed string, again bool, err error) {
	own, letGo, err := r.deps.Deploys.Exclude(ctx, r.previous())
	if err != nil {
		return stepSettle, false, err
	}
	failed = stepSettle
	if err = r.step(own, stepSettle, r.settleAhead); err == nil {
		failed, err = r.inHold(own)
	} else {
		again = svc.CodeOf(err) == svc.CodeRuntimeUnavailable
	}
	if err != nil {
		letGo()
		return failed, again, err
	}
	r.letGo = letGo
	return failed, false, nil
}

// errHoldLimit ends a hold that takes too long.
var errHoldLimit = errors.New("the hold reached its limit")

// inHold does the steps while requests of production wait. One goroutine ends the hold in any case,
// so that a commit and the end of the hold cannot race.
func (r *release) inHold(ctx context.Context) (failed string, err error) {
	r.hold = time.Now()
	r.deps.Gateway.Hold(r.op.Project)
	limited, cancel := context.WithTimeoutCause(ctx, r.limit, errHoldLimit)
	defer cancel()
	var sealed control.Sealing
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{stepDrain, r.drain},
		{stepPause, r.pause},
		{stepSeal, func(ctx context.Context) (err error) { sealed, err = r.seal(ctx); return err }},
		{stepFork, func(ctx context.Context) error { return r.deploy.Fork(ctx, sealed.Cut) }},
		{stepPrepare, func(ctx context.Context) error { return r.prepare(ctx, sealed) }},
		{stepCheck, func(ctx context.Context) error { return r.deploy.Start(ctx, r.req.Check) }},
	}
	for _, step := range steps {
		if err := r.step(limited, step.name, step.do); err != nil {
			return step.name, r.tooSlow(limited, step.name, err)
		}
	}
	// From here on the limit does not count: the outcome must be known before requests continue.
	err = r.step(context.WithoutCancel(ctx), stepCommit, r.commit)
	return stepCommit, err
}

// tooSlow returns err of a step, or that the hold took too long.
func (r *release) tooSlow(ctx context.Context, step string, err error) error {
	if !errors.Is(context.Cause(ctx), errHoldLimit) {
		return err
	}
	hint := "split the migrations, or raise the limit with max_hold_ms"
	if step == stepSeal || step == stepFork { // they wait for the object store alone
		hint = "release again when GET /v1/health/deep says that the object store answers, or raise the limit with max_hold_ms"
	}
	return svc.Errorf(svc.Unavailable, svc.CodeReleaseTooSlow, "the release held the requests of production for its limit of %s", r.limit).
		WithHint("%s", hint).Because(err)
}

// step does one step and notes its time.
func (r *release) step(ctx context.Context, name string, do func(context.Context) error) error {
	failpoint.Hit("release/" + name + "/started")
	run := svc.StepRun{Step: name, Status: svc.StepDone, StartedAt: time.Now()}
	err := context.Cause(ctx)
	if err == nil {
		err = do(ctx)
	}
	run.EndedAt = time.Now()
	if err = spoken(err); err != nil {
		run.Status, run.Detail = svc.StepFailed, svc.CodeOf(err)+": "+svc.AsError(err).Error()
	}
	r.steps = append(r.steps, run)
	if !r.hold.IsZero() {
		r.done.Steps = append(r.done.Steps, svc.HoldStep{Step: name, Took: run.EndedAt.Sub(run.StartedAt)})
	}
	if err == nil {
		failpoint.Hit("release/" + name + "/done")
	}
	return err
}

// spoken returns err as one for users. An error of no service is the end of a line to a worker
// host, whose log has the reason.
func spoken(err error) error {
	if err == nil || errors.As(err, new(*svc.Error)) {
		return err
	}
	return svc.Errorf(svc.Unavailable, svc.CodeReleaseInterrupted, "a worker host ended or did not answer; production is unchanged").
		WithHint("read the logs of production and of the new version, and release again").Because(err)
}

// undone ends a release that was not committed: production continues with its data.
func (r *release) undone(ctx context.Context, step string, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.deps.StepLimit+settleLimit)
	defer cancel()
	if !r.hold.IsZero() {
		r.unseal(ctx)
		r.deps.Gateway.Release(r.op.Project)
	}
	r.deps.Gateway.Share(r.op.Project)
	if r.deploy != nil {
		if err := r.deploy.Fail(ctx, step, cause); err != nil {
			r.log.ErrorContext(ctx, "ending the version of an undone release failed", "error", err)
		}
		r.deploy.End()
	} else if err := r.deps.Deploys.FailInterrupted(ctx, r.target()); err != nil {
		r.log.ErrorContext(ctx, "ending the version of an undone release failed", "error", err)
	}
	r.log.WarnContext(ctx, "release undone; production is unchanged", "step", step, "error", cause)
	public := *svc.AsError(cause)
	public.Err = nil
	r.end(ctx, svc.PromotionOutcome{Status: svc.PromotionFailed, Error: step + ": " + public.Code + ": " + public.Error(), Released: r.done})
}

// unseal has the writes and events of production continue. A worker host that is gone accepted
// nothing, and the next one is not sealed.
func (r *release) unseal(ctx context.Context) {
	if _, err := r.deps.Sealer.Seal(ctx, r.previous(), control.Seal{State: control.SealUndone}); err != nil {
		r.log.WarnContext(ctx, "the worker host of production did not answer the end of the release", "error", err)
	}
}

// end writes the outcome, with the steps, however long the registry does not take it: until then no
// other release of the project can begin. The time of ctx may be over.
func (r *release) end(ctx context.Context, o svc.PromotionOutcome) {
	ctx = context.WithoutCancel(ctx)
	if o.Status == svc.PromotionDone {
		r.op.Watch = r.op.Watch.Begun(time.Now())
		o.Watch = r.op.Watch
	}
	waiting, cancel := r.work.Until(ctx)
	defer cancel()
	for retry := newRetry(); ; {
		r.settle(r.op.Project, true)
		err := r.write(ctx, o)
		if err == nil {
			break
		}
		r.settle(r.op.Project, false)
		delay := retry.Next()
		r.log.ErrorContext(ctx, "writing the outcome of a release failed; retrying", "error", err, "retry_in", delay)
		if backoff.Sleep(waiting, delay) != nil {
			return // the next start writes it
		}
	}
	if r.deps.Watched != nil {
		r.deps.Watched(ctx, r.op)
	}
	r.deps.Observer.ReleaseDone(string(o.Status), o.CutOver.Held, o.Released.LateRefused)
}

// write is one attempt to write the outcome.
func (r *release) write(ctx context.Context, o svc.PromotionOutcome) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	if err := r.deps.Releases.RecordSteps(ctx, r.op.ID, r.steps); err != nil {
		return err
	}
	r.steps = nil
	if o.Status == svc.PromotionDone {
		if err := r.deps.Promotions.PinRollback(ctx, r.op, r.deps.RollbackKeep); err != nil {
			return err
		}
	}
	return r.deps.Promotions.FinishPromotion(ctx, r.op.ID, o)
}
