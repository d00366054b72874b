package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// Start starts the runtime of a version that was ready before. It fetches the
// bundle if it is not in the cache, and does not run migrations again. The caller
// moves the version to deploying before and to the next status after. The error is
// written for users [D17].
func (s *Service) Start(ctx context.Context, ref svc.Ref) error {
	own, end, err := s.locks.Lock(ctx, ref)
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
		s.log.ErrorContext(ctx, "start of a version failed", "project", ref.Project, "version", ref.Version, "error", redact(err.Error(), v.Env))
		return forUsers(err, v.Env)
	}
	s.routes.started(ref, &endpoint)
	return nil
}

// forUsers returns err without its cause and with the values of env redacted.
func forUsers(err error, env map[string]string) error {
	e := *svc.AsError(err)
	if e.Err = nil; !isKnown(err) {
		e.Detail, e.Hint = internalDetail, internalHint
	}
	e.Detail, e.Output = clip(redact(e.Detail, env)), clip(redact(e.Output, env))
	return &e
}

// Stop interrupts the deploy or start of a version, stops its runtime, and returns
// when both have ended. Call it after the transition out of the statuses that
// deploy or serve; otherwise either may start again.
func (s *Service) Stop(ctx context.Context, ref svc.Ref) error {
	if err := s.locks.Interrupt(ctx, ref, errHalted); err != nil {
		return err
	}
	s.bundles.arrived(ref) // ends a job that waits for the bundle
	s.began.forget(ref)
	return s.deps.Runtimes.StopVersion(ctx, ref)
}

// RemoveRoutes removes the routes of a destroyed version.
func (s *Service) RemoveRoutes(ref svc.Ref) { s.routes.remove(ref) }

// DropBundle deletes the unpacked bundle of a version that is stopped; the next start
// fetches it from the artifacts. Idempotent.
func (s *Service) DropBundle(ctx context.Context, ref svc.Ref) error {
	_, unlock, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer unlock()
	return s.bundles.remove(ctx, ref)
}

// Purge deletes the files of a destroyed version other than its data: its logs,
// its cached bundle, and its bundle in the artifacts bucket. It does not touch
// ARTIFACTS_DIR, which the operator owns. Idempotent.
func (s *Service) Purge(ctx context.Context, ref svc.Ref) error {
	keys := s.deps.BundleKeys(ref)
	err := errors.Join(
		s.bundles.remove(ctx, ref), os.RemoveAll(s.bundles.object(ref)),
		os.RemoveAll(filepath.Join(s.deps.Dirs.Logs, ref.Project, ref.Version)),
		s.deps.Artifacts.Delete(ctx, keys[:]...),
	)
	if err != nil {
		return fmt.Errorf("purging %s: %w", ref, err)
	}
	return nil
}
