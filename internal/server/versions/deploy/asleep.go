package deploy

import (
	"context"
	"maps"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// beginsAsleep reports whether the version becomes ready without a start.
func (r *run) beginsAsleep() bool { return !r.v.AsleepAt.IsZero() }

// layDown is the step deploying of a version that begins asleep. Its worker has not run;
// it is that of the parent, which serves.
func (r *run) layDown(ctx context.Context) (string, error) {
	if err := r.unpacked(ctx); err != nil {
		return "", err
	}
	parent := svc.Ref{Project: r.v.Project, Version: r.v.ParentID}
	p, err := r.deps.Versions.Version(ctx, parent)
	if err != nil {
		return "", err
	}
	if !p.Status.Serves() || r.v.ScrubID != "" {
		return "", svc.Errorf(svc.Unprocessable, svc.CodeWorkerDiffers, "version %s is %s, or its data must be scrubbed; a child cannot begin asleep", parent, p.Status)
	}
	mine, err := bundle.Load(r.bundleDir)
	if err != nil {
		return "", err
	}
	its, err := bundle.Load(r.bundles.path(parent))
	if err != nil {
		return "", err
	}
	own, err := r.openSecrets(ctx)
	if err != nil {
		return "", err
	}
	ofParent, err := r.deps.Secrets.Of(ctx, p)
	if err != nil {
		return "", err
	}
	if !bundle.SameWorker(mine, its) || !maps.Equal(p.Env, r.v.Env) || !maps.Equal(ofParent, own) {
		return "", svc.Errorf(svc.Unprocessable, svc.CodeWorkerDiffers, "the bundle, the overrides or the secrets differ from those of %s in more than static files", parent)
	}
	r.routes.fallAsleep(r.v.Ref)
	r.routes.sleeps(r.v.Ref, time.Now(), time.Time{})
	return "asleep until the first request, with the worker of " + parent.Version, nil
}

// ShowFiles has a version that serves show the static files of another one of its project
// in place of its own, to visitors and to its worker, without a restart, until it stops
// serving. The bundle of the other one must stay unpacked. It is for watch mode alone:
// the files of a version of a server do not change. Errors: Conflict, version_not_ready,
// if one of them does not serve.
func (s *Service) ShowFiles(ctx context.Context, in, of svc.Ref) error {
	own, end, err := s.locks.Lock(ctx, in)
	if err != nil {
		return err
	}
	defer end()
	for _, ref := range []svc.Ref{in, of} {
		if _, err := s.serving(own, ref); err != nil {
			return err
		}
	}
	dir := s.bundles.path(of)
	if err := s.deps.Runtimes.ShowFiles(own, in, dir); err != nil {
		return err
	}
	s.routes.showFiles(in, dir)
	return nil
}

// showFiles publishes whose static files a version shows.
func (t *routes) showFiles(ref svc.Ref, dir string) {
	t.update(ref, func(r *route) bool {
		if r.status.Serves() {
			r.files = dir
		}
		return r.status.Serves()
	})
}

// shownFiles is the directory of the bundle whose static files a version shows; "" for
// its own.
func (t *routes) shownFiles(ref svc.Ref) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.known[ref]; r != nil {
		return r.files
	}
	return ""
}
