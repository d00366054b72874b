package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// Start starts the runtime of a version that was ready before, as a restart of
// the daemon does: the bundle is fetched if the cache has lost it, migrations
// are not run again. The caller has moved the version to deploying, and moves
// it on. What the error says is fit for users [D17].
func (s *Service) Start(ctx context.Context, ref svc.Ref) error {
	own, end, err := s.works.begin(ctx, ref)
	if err != nil {
		return err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil {
		return err
	}
	endpoint, err := s.start(own, v)
	if cause := context.Cause(own); cause != nil {
		return cause
	}
	if err != nil {
		s.log.ErrorContext(ctx, "version does not start", "project", ref.Project, "version", ref.Version, "error", redact(err.Error(), v.Env))
		return forUsers(err, v.Env)
	}
	s.routes.started(ref, &endpoint)
	return nil
}

// forUsers is err without its cause and without the version's own values.
func forUsers(err error, env map[string]string) error {
	e := *svc.AsError(err)
	if e.Err = nil; !isKnown(err) {
		e.Detail, e.Hint = "something went wrong inside the service", "the daemon's log has the cause"
	}
	e.Detail = clip(redact(e.Detail, env))
	return &e
}

// Stop ends whatever works on a version, a deploy or a start, and its runtime,
// and returns when both are gone. Call it after the move that takes the version
// out of the statuses that are deployed or served: else both may come back.
func (s *Service) Stop(ctx context.Context, ref svc.Ref) error {
	if err := s.works.halt(ctx, ref); err != nil {
		return err
	}
	return s.deps.Runtimes.StopVersion(ctx, ref)
}

// Forget takes a destroyed version out of the routes: its hosts are nobody's.
func (s *Service) Forget(ref svc.Ref) { s.routes.forget(ref) }

// Purge removes what a destroyed version has beside its data: its logs, its
// place in the cache, and its bundle in the artifacts bucket. ARTIFACTS_DIR is
// the operator's own and stays as it is. It may be repeated.
func (s *Service) Purge(ctx context.Context, ref svc.Ref) error {
	var keys []string
	for _, name := range names() {
		keys = append(keys, objectKey(ref, name))
	}
	err := errors.Join(
		s.bundles.remove(ref), os.RemoveAll(s.bundles.object(ref)),
		os.RemoveAll(filepath.Join(s.deps.Dirs.Logs, ref.Project, ref.Version)),
		s.deps.Artifacts.Delete(ctx, keys...),
	)
	if err != nil {
		return fmt.Errorf("removing what is left of %s: %w", ref, err)
	}
	return nil
}
