package deploy

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// run is one attempt at one version's deploy.
type run struct {
	*Service
	v         svc.Version
	log       *slog.Logger
	queued    bool   // it belongs to a job, which may snooze
	bundleDir string // "" until the bundle is unpacked
	warm      string // Forked.Warm, if this attempt forked
	secrets   secretValues
	detail    string // of the previous step, for the timeline row that the next transition ends
}

// step is one status of the deploy and its work.
type step struct {
	status    svc.Status
	enter     svc.Trigger
	do        func(*run, context.Context) (detail string, err error)
	tolerable bool // lenient mode may continue after its failure [D47]
}

// name returns the step's name in errors, metrics and failpoints.
func (st step) name() string { return string(st.status) }

// steps returns the pipeline in order [D15]. spec: [C7.6].
func (s *Service) steps() []step {
	all := []step{
		{svc.StatusFetching, svc.TriggerFetch, (*run).fetch, true},
		{svc.StatusBranching, svc.TriggerBranch, (*run).branch, true},
		{svc.StatusPreparing, svc.TriggerPrepare, (*run).prepare, true},
		{svc.StatusDeploying, svc.TriggerDeploy, (*run).deploy, false},
	}
	if s.qualify != nil {
		all = append(all, step{svc.StatusDeployReady, svc.TriggerQualify, (*run).askAsProduction, false})
	}
	return all
}

// The outcomes of the pipeline in the names of failpoints.
const (
	stepReady  = "ready"
	stepFailed = "failed"
)

var (
	// errEnded: another service moved the version out of the deploy.
	errEnded = errors.New("the version is no longer in a deploy")
	// errHalted is the cause when Stop interrupts a deploy or a start.
	errHalted = errors.New("the deploy or start was stopped")
	// errStepLimit is the cause when a step exceeds StepLimit.
	errStepLimit = errors.New("the step exceeded its time limit")
)

// Run runs the pipeline for one job and returns nil when the version is ready or
// failed. It returns a *deployqueue.SnoozeError if the version waits for its
// bundle, and another error if this attempt cannot continue: ctx has ended or the
// registry has failed. In both cases the version keeps its status and the next
// attempt resumes there [D25].
func (s *Service) Run(ctx context.Context, job deployqueue.Job) error {
	own, end, err := s.locks.Lock(ctx, job.Ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.deps.Versions.Version(ctx, job.Ref)
	log := s.log.With("project", job.Ref.Project, "version", job.Ref.Version, "attempt", job.Attempt)
	if errors.Is(err, svc.NotFound) {
		log.WarnContext(ctx, "job of an unknown version dropped")
		return nil
	}
	if err != nil {
		return err
	}
	r := &run{Service: s, v: v, log: log, queued: true}
	err = r.attempt(own, job.Attempt)
	if errors.Is(err, errEnded) || errors.Is(context.Cause(own), errHalted) {
		return r.abandon(ctx)
	}
	return err
}

func (r *run) attempt(ctx context.Context, n int) error {
	if r.v.Status == svc.StatusReady { // a crash came between the last transition and the end of the job
		return r.assign(ctx)
	}
	if !r.v.Status.InDeploy() {
		return errEnded
	}
	if !r.v.ReadyAt.IsZero() { // it is being woken [D17]: the deploy of this job has ended
		return nil
	}
	if n > MaxAttempts {
		return r.fail(ctx, string(r.v.Status), tooManyAttempts())
	}
	r.routes.announce(r.v, false)
	for _, st := range r.steps() {
		if r.past(st) {
			continue
		}
		failed, err := r.pass(ctx, st)
		if err != nil {
			return err
		}
		if failed != nil {
			return r.fail(ctx, st.name(), failed)
		}
	}
	return r.finish(ctx)
}

// past reports whether the version has passed st.
func (r *run) past(st step) bool {
	order := svc.Statuses()
	return slices.Index(order, r.v.Status) > slices.Index(order, st.status)
}

// pass moves the version into st and does the work of st. failed ends the deploy
// as failed; err ends only this attempt.
func (r *run) pass(ctx context.Context, st step) (failed, err error) {
	resumed := r.v.Status == st.status
	if !resumed {
		if err := r.move(ctx, st.enter, svc.Change{Detail: r.detail}); err != nil {
			return nil, err
		}
	}
	failpoint.Hit("deploy/" + st.name() + "/started")
	began := time.Now()
	if resumed { // count the time that an earlier attempt waited
		began = r.stepBegan()
	}
	detail, err := r.limited(ctx, st)
	if ctx.Err() != nil { // a shutdown is not a failure
		return nil, context.Cause(ctx)
	}
	if snooze := (*deployqueue.SnoozeError)(nil); errors.As(err, &snooze) {
		return nil, err
	}
	r.deps.Observer.StepDone(st.name(), time.Since(began))
	r.deps.Traces.StepEnded(r.v, st.name(), began, err)
	if err != nil && (!st.tolerable || !r.canTolerate()) {
		return err, nil
	}
	if err != nil {
		r.detail = "failed; continued (lenient mode)"
		return nil, r.tolerate(ctx, st.name(), err)
	}
	r.detail = detail
	r.log.InfoContext(ctx, "step done", "step", st.name(), "detail", detail, "duration", time.Since(began))
	failpoint.Hit("deploy/" + st.name() + "/done")
	return nil, nil
}

// limited does the work of st within StepLimit.
func (r *run) limited(ctx context.Context, st step) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.deps.StepLimit, errStepLimit)
	defer cancel()
	detail, err := st.do(r, ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStepLimit) {
		return "", svc.Errorf(svc.Unavailable, svc.CodeStepTimeout, "the step did not finish within %s", r.deps.StepLimit).Because(err)
	}
	return detail, err
}

// move changes the status by compare-and-set [D15] and publishes it.
func (r *run) move(ctx context.Context, t svc.Trigger, c svc.Change) error {
	v, err := r.deps.Versions.Move(ctx, r.v.Ref, t, c)
	if errors.Is(err, svc.Conflict) || errors.Is(err, svc.NotFound) || errors.Is(err, svc.Gone) {
		r.log.InfoContext(ctx, "the version left the deploy; ending the attempt", "trigger", string(t), "error", err)
		return errEnded
	}
	if err != nil {
		return err
	}
	r.v = v
	r.routes.setStatus(v.Ref, v.Status)
	return nil
}

// finish makes the version ready and, if the project has no production, also
// production, in one transaction.
func (r *run) finish(ctx context.Context) error {
	failpoint.Hit("deploy/" + stepReady + "/started")
	defer r.routes.holdUntilReady(r.v.Ref)()
	defer r.deps.Production.HoldFirst(ctx, r.v.Project)()
	if r.v.PreviewName != "" {
		defer r.deps.Previews.Hold(r.v.Project, r.v.PreviewName)()
	}
	if err := r.move(ctx, svc.TriggerActivate, svc.Change{Detail: r.detail, FirstProduction: true}); err != nil {
		return err
	}
	failpoint.Hit("deploy/" + stepReady + "/done")
	r.deps.Observer.DeployDone("ready")
	r.deps.Traces.DeployEnded(r.v, "ready")
	r.log.InfoContext(ctx, "version is ready", "preview_url", r.deps.Ingress.PreviewURL(r.v.Ref), "production", r.v.Production)
	defer r.renewSecrets(ctx)
	return r.assign(ctx)
}

// assign moves the host name of a preview name, and completes the automatic assignment
// of production: route and pointer. spec: [C3.5].
func (r *run) assign(ctx context.Context) error {
	if name := r.v.PreviewName; name != "" {
		if err := r.deps.Previews.Publish(ctx, r.v.Project, name); err != nil {
			return err
		}
		r.log.InfoContext(ctx, "preview switched", "preview", name)
		defer r.deps.Previews.Switched(ctx)
	}
	return r.deps.Production.AssignFirst(ctx, r.v.Ref)
}

// abandon ends an attempt whose version left the deploy, and stops its runtime.
func (r *run) abandon(ctx context.Context) error {
	v, err := r.deps.Versions.Version(ctx, r.v.Ref)
	if err != nil && !errors.Is(err, svc.NotFound) && !errors.Is(err, svc.Gone) {
		return err
	}
	if err == nil && (v.Status.Serves() || v.Status.InDeploy()) {
		r.log.WarnContext(ctx, "another attempt works on the version; ending this one", "status", string(v.Status))
		return nil
	}
	r.log.InfoContext(ctx, "the version left the deploy; stopping its runtime", "status", string(v.Status))
	return r.deps.Runtimes.StopVersion(ctx, r.v.Ref)
}
