package deploy

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// Release is the deploy of the version that a release makes. The release calls its methods in
// order and from one goroutine; the version has no job. Until Commit, Fail undoes it.
type Release struct {
	*run

	ctx      context.Context //nolint:containedctx // ends when the version is stopped, as one that is destroyed
	unlock   func()
	statuses sequence
}

// BeginRelease copies the bundle of the candidate to v, which is pending, unpacks it, and starts
// its worker host and workerd, which wait for the data. End must follow.
func (s *Service) BeginRelease(ctx context.Context, v svc.Version) (*Release, error) {
	own, unlock, err := s.locks.Lock(ctx, v.Ref)
	if err != nil {
		return nil, err
	}
	log := s.log.With("project", v.Project, "version", v.Version, "candidate", v.ReleasedFrom)
	r := &Release{run: &run{Service: s, v: v, log: log}, ctx: own, unlock: unlock}
	r.routes.announce(v, false)
	return r, r.stage(own)
}

func (r *Release) stage(ctx context.Context) error {
	if err := r.move(ctx, svc.TriggerFetch, svc.Change{}); err != nil {
		return err
	}
	if err := r.bundles.copy(ctx, r.deps.Artifacts, svc.Ref{Project: r.v.Project, Version: r.v.ReleasedFrom}, r.v.Ref); err != nil {
		return err
	}
	if err := r.keepAssets(ctx); err != nil {
		return err
	}
	detail, err := r.fetch(ctx)
	if err != nil {
		return err
	}
	spec, err := r.spec(ctx)
	if err != nil {
		return err
	}
	spec.Parent = r.v.ParentID // whose data the host reads ahead
	if err := r.deps.Runtimes.Stage(ctx, spec); err != nil {
		return err
	}
	return r.move(ctx, svc.TriggerBranch, svc.Change{Detail: detail})
}

// Manifest returns the manifest of the version's bundle.
func (r *Release) Manifest() (bundle.Manifest, error) { return bundle.Load(r.bundleDir) }

// Fork begins the data at a cut of the parent, which accepts no writes.
func (r *Release) Fork(ctx context.Context, cut branch.VersionCut) error {
	parent := svc.Ref{Project: r.v.Project, Version: r.v.ParentID}
	if len(cut.Databases) == 0 {
		return r.advance(svc.TriggerPrepare, parent.Version+" has no data to fork")
	}
	forked, err := r.deps.Branches.ForkAt(ctx, parent, r.v.Ref, forkID(r.v), cut)
	if err != nil {
		return err
	}
	r.warm, r.v.ForkTXID = forked.Warm, forked.TXID
	r.statuses.add(func() error { return r.deps.Versions.SetForkTXID(r.ctx, r.v.Ref, forked.TXID) })
	return r.advance(svc.TriggerPrepare, forkDetail(forked, parent, time.Time{}))
}

// Prepare opens the data and applies the migrations. The data must begin at the cut: a worker host
// that opened other data would make production lose everything.
func (r *Release) Prepare(ctx context.Context, cut branch.VersionCut) (done svc.Prepared, err error) {
	if err := r.open(ctx); err != nil {
		return done, err
	}
	if done, err = r.deps.Runtimes.Prepare(ctx, r.v.Ref); err != nil {
		return done, err
	}
	at, err := r.deps.Runtimes.Positions(ctx, r.v.Ref)
	if err == nil {
		err = beginsAt(at, cut)
	}
	if err != nil {
		return done, err
	}
	r.statuses.add(func() error {
		return r.deps.Versions.SetMigrated(r.ctx, r.v.Ref, svc.Migrated{Names: done.Applied, Took: done.Took})
	})
	return done, r.advance(svc.TriggerDeploy, describe(done, false))
}

// beginsAt returns an error unless each database of the cut begins there.
func beginsAt(at control.Positions, cut branch.VersionCut) error {
	for name, want := range cut.Databases {
		if got := at[name]; got != want.TXID {
			return svc.Errorf(svc.Unavailable, svc.CodeReleaseCheck, "database %q of the new version begins at transaction %d, and production ended at %d", name, got, want.TXID)
		}
	}
	return nil
}

// Start has the worker serve, without events and visitors, and asks it for the path check, if any.
func (r *Release) Start(ctx context.Context, check string) error {
	if err := r.statuses.settle(); err != nil {
		return err
	}
	endpoint, err := r.deps.Runtimes.Serve(ctx, r.v.Ref)
	if err != nil {
		return err
	}
	r.routes.started(r.v.Ref, &endpoint)
	if check == "" {
		return nil
	}
	if r.check == nil {
		return errors.New("no client to check a release")
	}
	return r.check.passes(ctx, r.v.Ref, check)
}

// Commit makes the version ready and production in place of its parent, in one transaction. After
// an error it reads what the registry has: committed tells it. The error of an attempt whose
// outcome is unknown is not returned; Commit continues until the registry answers or the daemon stops.
func (r *Release) Commit(ctx context.Context, detail string) (committed bool, err error) {
	defer r.routes.holdUntilReady(r.v.Ref)()
	failpoint.Hit("release/commit/asked")
	v, err := r.deps.Versions.Move(ctx, r.v.Ref, svc.TriggerActivate, svc.Change{Detail: detail, InsteadOf: r.v.ParentID})
	if err == nil {
		failpoint.Hit("release/commit/answered")
	} else if v, err = r.readBack(ctx, err); err != nil {
		return false, err
	}
	r.v = v
	r.routes.setStatus(v.Ref, v.Status)
	r.deps.Observer.DeployDone("ready")
	r.deps.Traces.DeployEnded(v, "ready")
	return true, nil
}

// readBackPause is the time between two reads of a commit whose answer was lost.
const readBackPause = 50 * time.Millisecond

// readBack returns the version if the registry has it as production, else cause.
func (r *Release) readBack(ctx context.Context, cause error) (svc.Version, error) {
	for {
		v, err := r.deps.Versions.Version(ctx, r.v.Ref)
		switch {
		case err == nil && v.Production && v.Status.Serves():
			return v, nil
		case err == nil:
			return v, cause
		case backoff.Sleep(ctx, readBackPause) != nil:
			return v, errors.Join(cause, err)
		}
		r.log.ErrorContext(ctx, "reading the outcome of a commit failed; trying again", "error", err)
	}
}

// Fail ends a version whose release was not committed.
func (r *Release) Fail(ctx context.Context, step string, cause error) error {
	_ = r.statuses.settle() // the version fails in any status
	if v, err := r.deps.Versions.Version(ctx, r.v.Ref); err == nil {
		r.v = v
	}
	if err := r.deps.Runtimes.StopVersion(ctx, r.v.Ref); err != nil {
		r.log.ErrorContext(ctx, "stopping the runtime of a failed version failed", "error", err)
	}
	return r.fail(ctx, step, cause)
}

// End lets others work on the version.
func (r *Release) End() { r.unlock() }

// Done returns what is closed when the version is stopped, as one that is destroyed.
func (r *Release) Done() <-chan struct{} { return r.ctx.Done() }

// advance changes the status beside the work, which does not wait for the registry.
func (r *Release) advance(t svc.Trigger, detail string) error {
	r.statuses.add(func() error {
		v, err := r.deps.Versions.Move(r.ctx, r.v.Ref, t, svc.Change{Detail: detail})
		if err == nil {
			r.routes.setStatus(v.Ref, v.Status)
		}
		return err
	})
	return nil
}

// FailInterrupted ends a version whose release the end of the daemon interrupted before its commit.
func (s *Service) FailInterrupted(ctx context.Context, ref svc.Ref) error {
	own, unlock, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil || !v.Status.InDeploy() {
		return err
	}
	r := &run{Service: s, v: v, log: s.log.With("project", ref.Project, "version", ref.Version)}
	s.routes.announce(v, false)
	return r.fail(own, string(v.Status), svc.Errorf(svc.Unavailable, svc.CodeReleaseInterrupted,
		"the server ended before the release was committed; production is unchanged").WithHint("release again"))
}

// Exclude lets no other service start, stop or restart the runtime of a version until release is
// called. The context ends when the version must stop.
func (s *Service) Exclude(ctx context.Context, ref svc.Ref) (own context.Context, release func(), err error) {
	return s.locks.Lock(ctx, ref)
}

// copy copies the bundle of one version to the artifacts of another.
func (b *bundles) copy(ctx context.Context, artifacts objstore.Bucket, from, to svc.Ref) error {
	for _, src := range b.sources {
		body, key, err := src.open(ctx, from)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err == nil {
			err = put(ctx, artifacts, b.keys(to)[key], body)
		}
		if err != nil {
			return svc.Errorf(svc.Unavailable, svc.CodeArtifactUnreadable, "the bundle of %s cannot be copied", from).
				WithHint("release again when GET /v1/health/deep says that the object store answers").Because(err)
		}
		return nil
	}
	return svc.Errorf(svc.NotFound, svc.CodeArtifactMissing, "the bundle of %s is no longer in the artifacts bucket", from).
		WithHint("deploy it again")
}

func put(ctx context.Context, to objstore.Bucket, key string, body io.ReadCloser) error {
	defer body.Close()
	_, err := to.Put(ctx, key, body, -1, objstore.Condition{})
	return err
}
