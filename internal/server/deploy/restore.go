package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	longStartPause = 30 * time.Second
	// startTries is the number of attempts to start a worker: the cause of a failed
	// attempt may be the machine, not the worker.
	startTries = 5
)

// restoreList holds the versions that Announce found for Restore.
type restoreList struct {
	mu        sync.Mutex
	announced bool
	versions  []svc.Version
	failed    []svc.Ref // a crash may have left their files
}

// Announce publishes every version and every production host name to the gateway,
// so that it can answer for them before they run. Call it before the gateway
// accepts connections and before promotions are resumed; calls after the first
// do nothing.
func (s *Service) Announce(ctx context.Context) error {
	s.restore.mu.Lock()
	defer s.restore.mu.Unlock()
	if s.restore.announced {
		return nil
	}
	all, err := s.deps.Inventory.VersionsByStatus(ctx, announcedStatuses()...)
	if err != nil {
		return fmt.Errorf("listing versions: %w", err)
	}
	for _, v := range all {
		s.routes.announce(v.Ref, v.Status)
		if v.Status.Serves() {
			s.restore.versions = append(s.restore.versions, v)
		}
		if v.Status == svc.StatusFailed {
			s.restore.failed = append(s.restore.failed, v.Ref)
		}
		if v.Production {
			s.deps.Gateway.SetProduction(v.Project, v.Version)
		}
	}
	s.restore.announced = true
	return nil
}

// announcedStatuses returns the statuses that have routes: all but destroyed.
func announcedStatuses() []svc.Status {
	return slices.DeleteFunc(svc.Statuses(), func(s svc.Status) bool { return s == svc.StatusDestroyed })
}

// Restore starts every version that served when the daemon stopped, productions
// first, two at a time [D25], and removes the files of failed versions. It retries
// a version that does not start up to startTries times; then the version stays
// ready, its host names answer 502, and the reason is logged. It retries without
// limit while the object store does not answer. Restore returns when all versions
// have been started or abandoned, or with the error of ctx.
func (s *Service) Restore(ctx context.Context) error {
	if err := s.Announce(ctx); err != nil {
		return err
	}
	s.restore.mu.Lock()
	todo, failed := s.restore.versions, s.restore.failed
	s.restore.versions, s.restore.failed = nil, nil
	s.restore.mu.Unlock()
	for try, delay := 1, s.deps.StartPause; ; try, delay = try+1, min(delay*2, longStartPause) {
		todo = s.startAll(ctx, todo, try >= startTries)
		s.cleanUpAll(ctx, failed)
		failed = nil
		if len(todo) == 0 {
			return ctx.Err()
		}
		if backoff.Sleep(ctx, delay) != nil {
			return ctx.Err()
		}
	}
}

// cleanUpAll removes the files and data of failed versions until ctx ends.
func (s *Service) cleanUpAll(ctx context.Context, failed []svc.Ref) {
	for _, ref := range failed {
		if ctx.Err() != nil {
			return
		}
		s.cleanUp(ctx, ref)
	}
}

// startAll starts versions in order and returns those to retry: in the last attempt
// only those with a retriable error.
func (s *Service) startAll(ctx context.Context, versions []svc.Version, last bool) (again []svc.Version) {
	var mu sync.Mutex
	var starts errgroup.Group
	starts.SetLimit(restoreParallel)
	for _, v := range versions {
		starts.Go(func() error {
			if ctx.Err() != nil || s.startOne(ctx, v.Ref, last) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			again = append(again, v)
			return nil
		})
	}
	_ = starts.Wait() // no start is an error here
	return again
}

// startOne starts one version, unless its status no longer serves. It reports false
// if a retry may help.
func (s *Service) startOne(ctx context.Context, ref svc.Ref, last bool) bool {
	log := s.log.With("project", ref.Project, "version", ref.Version)
	ctx, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return true // the daemon is stopping
	}
	defer end()
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil {
		log.WarnContext(ctx, "looking up a version failed", "error", err)
		return errors.Is(err, svc.NotFound) || errors.Is(err, svc.Gone)
	}
	if !v.Status.Serves() {
		return true
	}
	endpoint, err := s.start(ctx, v)
	switch {
	case err == nil:
		s.routes.started(ref, &endpoint)
		log.InfoContext(ctx, "version restored", "production", v.Production)
	case ctx.Err() != nil:
	case !last || retriable(err):
		log.WarnContext(ctx, "restoring a version failed; retrying", "error", redact(err.Error(), v.Env))
		return false
	default:
		log.ErrorContext(ctx, "restoring a version failed; giving up", "production", v.Production, "error", redact(err.Error(), v.Env))
		s.routes.started(ref, nil)
	}
	return true
}

func (s *Service) start(ctx context.Context, v svc.Version) (svc.Endpoint, error) {
	r := &run{Service: s, v: v, log: s.log}
	if err := r.open(ctx); err != nil {
		return svc.Endpoint{}, err
	}
	return s.deps.Runtimes.Serve(ctx, v.Ref)
}

// retriable reports whether err is an outage of the object store, which ends. A
// missing bundle or a worker that fails to start seldom changes by waiting.
func retriable(err error) bool {
	code := svc.CodeOf(err)
	return code == svc.CodeArtifactUnreadable || code == svc.CodeDataUnavailable
}
