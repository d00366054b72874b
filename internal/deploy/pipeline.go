package deploy

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/svc"
)

// run is one attempt at one version's deploy.
type run struct {
	*Service
	v         svc.Version
	log       *slog.Logger
	patience  patience
	bundleDir string // "" until the bundle is unpacked
	warm      string // of the fork that this attempt made
	detail    string // of the step before, for the timeline row that the next move ends
}

// step is one status of the deploy and the work that is done in it.
type step struct {
	status    svc.Status
	enter     svc.Trigger
	do        func(*run, context.Context) (detail string, err error)
	wait      time.Duration // added to the limit of the step
	tolerable bool          // lenient mode may go over its failure [D47]
}

// name is how the step appears in errors, metrics and failpoints.
func (st step) name() string { return string(st.status) }

// steps is the pipeline in its fixed order [D15].
func (s *Service) steps() []step {
	return []step{
		{svc.StatusFetching, svc.TriggerFetch, (*run).fetch, s.deps.ArtifactWait, true},
		{svc.StatusBranching, svc.TriggerBranch, (*run).branch, 0, true},
		{svc.StatusPreparing, svc.TriggerPrepare, (*run).prepare, 0, true},
		{svc.StatusDeploying, svc.TriggerDeploy, (*run).deploy, 0, false},
	}
}

// The ends of the pipeline in the names of failpoints.
const (
	stepReady  = "ready"
	stepFailed = "failed"
)

var (
	// errEnded: the version was moved out of the deploy by somebody else.
	errEnded = errors.New("the deploy was ended from outside")
	// errStepLimit is the cause of a step's end after StepLimit.
	errStepLimit = errors.New("the step took too long")
)

// Run is the pipeline: it does one job until its version is ready or failed
// and returns nil. An error means that this attempt could not go on, because
// ctx ended or the registry did not answer; the version keeps its status and
// the next attempt resumes there [D25].
func (s *Service) Run(ctx context.Context, job jobs.Job) error {
	own, end, err := s.works.begin(ctx, job.Ref)
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
	r := &run{Service: s, v: v, log: log, patience: job.Aside}
	err = r.attempt(own, job.Attempt)
	if errors.Is(err, errEnded) || errors.Is(context.Cause(own), errHalted) {
		return r.abandon(ctx)
	}
	return err
}

func (r *run) attempt(ctx context.Context, n int) error {
	if r.v.Status == svc.StatusReady { // a crash between the last move and the end of the job
		return r.assign(ctx)
	}
	if !r.v.Status.InDeploy() {
		return errEnded
	}
	if !r.v.ReadyAt.IsZero() { // it wakes [D17]: the deploy of this job is long over
		return nil
	}
	if n > MaxAttempts {
		return r.fail(ctx, string(r.v.Status), tooManyAttempts())
	}
	r.routes.announce(r.v.Ref, r.v.Status)
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

// past reports whether the version is beyond a step.
func (r *run) past(st step) bool {
	order := svc.Statuses()
	return slices.Index(order, r.v.Status) > slices.Index(order, st.status)
}

// pass takes the version into a step and through it. failed is why the deploy
// has to end; err is why this attempt has to.
func (r *run) pass(ctx context.Context, st step) (failed, err error) {
	if r.v.Status != st.status {
		if err := r.move(ctx, st.enter, svc.Change{Detail: r.detail}); err != nil {
			return nil, err
		}
	}
	failpoint.Hit("deploy/" + st.name() + "/started")
	began := time.Now()
	detail, err := r.limited(ctx, st)
	if ctx.Err() != nil { // a shutdown is not a failure
		return nil, context.Cause(ctx)
	}
	r.deps.Observer.StepDone(st.name(), time.Since(began).Seconds())
	if err != nil && (!st.tolerable || !r.canTolerate()) {
		return err, nil
	}
	if err != nil {
		r.detail = "failed, and tolerated"
		return nil, r.tolerate(ctx, st.name(), err)
	}
	r.detail = detail
	r.log.InfoContext(ctx, "step done", "step", st.name(), "detail", detail, "took", time.Since(began))
	failpoint.Hit("deploy/" + st.name() + "/done")
	return nil, nil
}

// limited does the work of a step in the time that it has.
func (r *run) limited(ctx context.Context, st step) (string, error) {
	limit := r.deps.StepLimit + st.wait
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errStepLimit)
	defer cancel()
	detail, err := st.do(r, ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStepLimit) {
		return "", svc.Errorf(svc.Unavailable, "step_timeout", "not done after %s", limit).Because(err)
	}
	return detail, err
}

// move is one compare-and-set of the status [D15], and its publication.
func (r *run) move(ctx context.Context, t svc.Trigger, c svc.Change) error {
	v, err := r.deps.Versions.Move(ctx, r.v.Ref, t, c)
	if errors.Is(err, svc.Conflict) || errors.Is(err, svc.NotFound) || errors.Is(err, svc.Gone) {
		r.log.InfoContext(ctx, "lost the version", "trigger", string(t), "error", err)
		return errEnded
	}
	if err != nil {
		return err
	}
	r.v = v
	r.routes.setStatus(v.Ref, v.Status)
	return nil
}

// finish makes the version ready and, when the project has none, production in
// one: a client that sees it ready sees that too.
func (r *run) finish(ctx context.Context) error {
	failpoint.Hit("deploy/" + stepReady + "/started")
	defer r.routes.almostReady(r.v.Ref)()
	defer r.deps.Production.HoldFirst(ctx, r.v.Project)()
	if err := r.move(ctx, svc.TriggerActivate, svc.Change{Detail: r.detail, FirstProduction: true}); err != nil {
		return err
	}
	failpoint.Hit("deploy/" + stepReady + "/done")
	r.deps.Observer.DeployDone("ready")
	r.log.InfoContext(ctx, "version is ready", "preview_url", r.deps.Ingress.PreviewURL(r.v.Ref), "production", r.v.Production)
	return r.assign(ctx)
}

// assign is the rest of the automatic assignment of production: its route and
// its pointer.
// spec: Resources and their fields, Project.
func (r *run) assign(ctx context.Context) error {
	return r.deps.Production.AssignFirst(ctx, r.v.Ref)
}

// abandon cleans up after a deploy that somebody else ended: whatever was
// started for it stops.
func (r *run) abandon(ctx context.Context) error {
	v, err := r.deps.Versions.Version(ctx, r.v.Ref)
	if err != nil && !errors.Is(err, svc.NotFound) && !errors.Is(err, svc.Gone) {
		return err
	}
	if err == nil && (v.Status.Serves() || v.Status.InDeploy()) {
		r.log.WarnContext(ctx, "another attempt is at work on the version", "status", string(v.Status))
		return nil
	}
	r.log.InfoContext(ctx, "deploy ended from outside", "status", string(v.Status))
	return r.deps.Runtimes.StopVersion(ctx, r.v.Ref)
}
