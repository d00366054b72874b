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

// longStartPause is the longest pause before a version is started again that has no
// runtime yet, for example because its bundle cannot be fetched.
const longStartPause = 30 * time.Second

// restoreList holds the versions that Announce found for Restore.
type restoreList struct {
	mu        sync.Mutex
	announced bool
	versions  []svc.Version
	failed    []svc.Ref // a crash may have left their files
	ran       map[svc.Ref]bool
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
	if err := s.loadReadOnly(ctx); err != nil {
		return err
	}
	all, err := s.deps.Inventory.VersionsByStatus(ctx, announcedStatuses()...)
	if err != nil {
		return fmt.Errorf("listing versions: %w", err)
	}
	s.restore.ran = map[svc.Ref]bool{}
	previews := map[svc.Ref]struct{}{} // names in place of ids
	for _, v := range all {
		asleep := s.sleeps(v)
		s.routes.announce(v, asleep)
		if v.Status.Serves() && !asleep {
			s.restore.versions = append(s.restore.versions, v)
			s.restore.ran[v.Ref] = true
		}
		if v.Status == svc.StatusFailed {
			s.restore.failed = append(s.restore.failed, v.Ref)
		}
		if v.Production {
			s.deps.Gateway.SetProduction(v.Project, v.Version)
		}
		if v.PreviewName != "" {
			previews[svc.Ref{Project: v.Project, Version: v.PreviewName}] = struct{}{}
		}
	}
	for id := range previews {
		if err := s.deps.Previews.Publish(ctx, id.Project, id.Version); err != nil {
			return err
		}
	}
	s.restore.announced = true
	return nil
}

// Ran reports whether a version served, and did not sleep, when Announce was called.
func (s *Service) Ran(ref svc.Ref) bool {
	s.restore.mu.Lock()
	defer s.restore.mu.Unlock()
	return s.restore.ran[ref]
}

// announcedStatuses returns the statuses that have routes: all but destroyed.
func announcedStatuses() []svc.Status {
	return slices.DeleteFunc(svc.Statuses(), func(s svc.Status) bool { return s == svc.StatusDestroyed })
}

// Restore starts every version that served when the daemon stopped and did not sleep,
// productions first [D25], Deps.Restores at a time, and removes the files of failed versions. The runtime of
// a version that does not start is restarted like one that crashed; Restore itself
// retries versions whose bundle it cannot fetch. The version stays ready. Restore
// returns when all versions have a runtime, or with the error of ctx.
func (s *Service) Restore(ctx context.Context) error {
	if err := s.Announce(ctx); err != nil {
		return err
	}
	s.restore.mu.Lock()
	todo, failed := s.restore.versions, s.restore.failed
	s.restore.versions, s.restore.failed = nil, nil
	s.restore.mu.Unlock()
	for retry := (backoff.Backoff{First: s.deps.StartPause, Max: longStartPause}); ; {
		delay := retry.Next()
		todo = s.startAll(ctx, todo, delay)
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

// startAll starts versions in order and returns those to retry after a delay.
func (s *Service) startAll(ctx context.Context, versions []svc.Version, delay time.Duration) (again []svc.Version) {
	var mu sync.Mutex
	var starts errgroup.Group
	starts.SetLimit(s.deps.Restores)
	for _, v := range versions {
		starts.Go(func() error {
			if ctx.Err() != nil || s.startOne(ctx, v.Ref, delay) {
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

// startOne starts one version, unless its status no longer serves. It reports false if
// the version must be started again after a delay.
func (s *Service) startOne(ctx context.Context, ref svc.Ref, delay time.Duration) bool {
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
	err = s.startReady(ctx, v)
	switch {
	case err == nil:
		log.InfoContext(ctx, "version restored", "production", v.Production)
	case ctx.Err() != nil:
	case svc.CodeOf(err) == svc.CodeVersionNotServing:
		log.ErrorContext(ctx, "restoring a version failed; its runtime keeps restarting", "production", v.Production, "error", err)
	default:
		s.routes.retry(ref, time.Now().Add(delay))
		log.WarnContext(ctx, "restoring a version failed; retrying", "error", redact(err.Error(), v.Env), "retry_in", delay)
		return false
	}
	return true
}

func (s *Service) start(ctx context.Context, v svc.Version) (svc.Endpoint, error) {
	return (&run{Service: s, v: v, log: s.log}).start(ctx)
}

// start starts the runtime. No secret is in its error.
func (r *run) start(ctx context.Context) (svc.Endpoint, error) {
	if err := r.rouse(ctx, r.v); err != nil {
		return svc.Endpoint{}, err
	}
	if err := r.open(ctx); err != nil {
		return svc.Endpoint{}, r.hide(err)
	}
	endpoint, err := r.deps.Runtimes.Serve(ctx, r.v.Ref)
	return endpoint, r.hide(err)
}
