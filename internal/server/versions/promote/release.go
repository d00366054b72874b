package promote

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Sealer does the steps of a release in the worker host of production: supervisor.
type Sealer interface {
	Seal(ctx context.Context, ref svc.Ref, s control.Seal) (control.Sealing, error)
}

// Deploys deploys the versions that releases make: deploy.Service.
type Deploys interface {
	Begin(ctx context.Context, v svc.Version) (Deploy, error)
	// FailInterrupted ends a version whose release the end of the server interrupted.
	FailInterrupted(ctx context.Context, ref svc.Ref) error
	// Exclude lets no other service start, stop or restart the runtime of a version until release.
	Exclude(ctx context.Context, ref svc.Ref) (own context.Context, release func(), err error)
	// Migrations returns the migrations in the bundle of a version, as "<binding>/<name>", and which
	// of them say that earlier code works with them.
	Migrations(ctx context.Context, ref svc.Ref) (compatible map[string]bool, err error)
	// Awake returns when a version that sleeps serves.
	Awake(ctx context.Context, ref svc.Ref) error
	// Retire ends the process of a version with whose data another one continues, unless it is
	// busy; now ends it in any case.
	Retire(ctx context.Context, ref svc.Ref, now bool) (busy bool, err error)
	// Reopen starts a version again that is production once more, if its alarms were set aside.
	Reopen(ctx context.Context, ref svc.Ref) error
	// Archive archives a candidate that was released.
	Archive(ctx context.Context, ref svc.Ref) error
}

// Deploy is the deploy of one version: deploy.Release. Its methods are called in order.
type Deploy interface {
	Manifest() (bundle.Manifest, error)
	Fork(ctx context.Context, cut branch.VersionCut) error
	Prepare(ctx context.Context, cut branch.VersionCut) (svc.Prepared, error)
	Start(ctx context.Context, check string) error
	Commit(ctx context.Context, detail string) (committed bool, err error)
	Fail(ctx context.Context, step string, cause error) error
	End()
	Done() <-chan struct{}
}

// Releases writes releases to the registry.
type Releases interface {
	// CreateRelease stores a running release with the version that it makes.
	CreateRelease(ctx context.Context, n svc.NewVersion, forks svc.ForkPolicy, op *svc.Promotion) (svc.Version, error)
	// RecordSteps adds steps, which are over, to the journal of a promotion.
	RecordSteps(ctx context.Context, opID string, steps []svc.StepRun) error
}

// Release starts to put the code of a candidate on the data of production, and returns the running
// release.
//
// Errors: NotFound; Gone version_destroyed; Conflict version_not_ready, version_exists, no_production,
// schema_moved or promote_in_progress; Precondition production_moved; Unprocessable
// fork_of_production or release_too_slow; Unavailable shutting_down.
func (s *Service) Release(ctx context.Context, candidate svc.Ref, req svc.ReleaseRequest) (svc.Promotion, error) {
	own, end, err := s.begin(ctx, candidate.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	r, err := s.createRelease(ctx, candidate, req)
	if err != nil {
		end()
		return svc.Promotion{}, err
	}
	op := r.op // r belongs to the goroutine
	go func() {
		defer end()
		r.do(own)
	}()
	return op, nil
}

// createRelease checks the request and stores the release.
func (s *Service) createRelease(ctx context.Context, candidate svc.Ref, req svc.ReleaseRequest) (*release, error) {
	p, err := s.deps.Projects.Project(ctx, candidate.Project)
	if err != nil {
		return nil, err
	}
	v, err := s.deps.Versions.Version(ctx, candidate)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(req.MaxHold, s.deps.ReleaseHold)
	if err := releasable(p, v, req, limit); err != nil {
		return nil, err
	}
	if req.Rollback && !req.Force {
		if err := s.schemaMoved(ctx, svc.Ref{Project: p.ID, Version: p.ProdVersionID}, v.Ref); err != nil {
			return nil, err
		}
	}
	n := svc.NewVersion{
		Project: p.ID, ID: req.VersionID, ParentID: p.ProdVersionID, GitRef: v.GitRef, GitSHA: v.GitSHA, Digest: v.Digest, Env: v.Env,
		Labels: v.Labels, ReleasedFrom: v.Version,
	}
	reason := req.Reason
	if req.GitRef != nil && *req.GitRef != v.GitRef {
		n.GitRef = *req.GitRef
		reason = strings.TrimSpace(fmt.Sprintf("%s (git ref of %s: %s)", reason, v.Version, v.GitRef))
	}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	op := svc.Promotion{
		ID: "op-" + strings.ToLower(rand.Text()), Project: p.ID, Previous: p.ProdVersionID, Reason: reason, Status: svc.PromotionRunning, CreatedAt: time.Now(),
		Released: svc.Released{Expected: svc.ExpectedHold(v.Migrated.Took)},
		Watch:    svc.Watch{For: req.Watch.For, AbortOn: req.Watch.AbortOn},
	}
	made, err := s.deps.Releases.CreateRelease(ctx, n, s.deps.Forks, &op)
	if err != nil {
		return nil, err
	}
	return s.newRelease(op, made, req, limit), nil
}

// releasable returns an error for a candidate that cannot be released now.
func releasable(p svc.Project, v svc.Version, req svc.ReleaseRequest, limit time.Duration) error {
	switch expected := svc.ExpectedHold(v.Migrated.Took); {
	case req.ExpectedProd != nil && *req.ExpectedProd != p.ProdVersionID:
		return svc.Errorf(svc.Precondition, svc.CodeProductionMoved,
			"production is %q, not %q", p.ProdVersionID, *req.ExpectedProd).WithHint("read the project again and retry with its current production")
	case p.ProdVersionID == "":
		return svc.Errorf(svc.Conflict, svc.CodeNoProduction, "project %s has no production whose data a release could continue with", p.ID).
			WithHint("promote %s", v.Version)
	case v.Status != svc.StatusReady:
		return ready(v)
	case expected > limit:
		return svc.Errorf(svc.Unprocessable, svc.CodeReleaseTooSlow, "the expected hold is %s, the limit %s: the migrations of %s took %s",
			expected.Round(time.Millisecond), limit, v.Version, v.Migrated.Took.Round(time.Millisecond)).
			WithHint("split the migrations, or raise the limit with max_hold_ms")
	}
	return nil
}
