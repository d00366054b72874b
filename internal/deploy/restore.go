package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	longStartPause = 30 * time.Second
	// startTries is how often a worker that does not start is started before it is
	// left: what kept it from it may have been the machine, not the worker.
	startTries = 5
)

// restoreList is what Announce found to be started.
type restoreList struct {
	mu        sync.Mutex
	announced bool
	versions  []svc.Version
	failed    []svc.Ref // that a crash may have left files of
}

// Announce tells the gateway about every version and every production host, so
// that it can answer for them before they run. Call it before the gateway
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

// announcedStatuses is every status that the gateway has an answer for: all but
// destroyed.
func announcedStatuses() []svc.Status {
	return slices.DeleteFunc(svc.Statuses(), func(s svc.Status) bool { return s == svc.StatusDestroyed })
}

// Restore starts every version that was serving when the daemon stopped,
// productions first, two at a time [D25]. It returns when each was tried. A
// version that does not start is tried again a few times; then it stays ready, its
// hosts answer 502, and the log says why. One whose bundle cannot be fetched now is
// tried again until it can.
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
		s.discardAll(ctx, failed)
		failed = nil
		if len(todo) == 0 {
			return ctx.Err()
		}
		if !pause(ctx, delay) {
			return ctx.Err()
		}
	}
}

// discardAll removes what is left of failed versions, unless ctx ends. Nobody
// waits for that, so it comes after the versions that serve.
func (s *Service) discardAll(ctx context.Context, failed []svc.Ref) {
	for _, ref := range failed {
		if ctx.Err() != nil {
			return
		}
		s.discard(ctx, ref)
	}
}

// startAll starts versions in order and returns those to try again: the last time
// only those that wait for something.
func (s *Service) startAll(ctx context.Context, versions []svc.Version, last bool) (again []svc.Version) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, restoreParallel)
	for _, v := range versions {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if s.startOne(ctx, v.Ref, last) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			again = append(again, v)
		})
	}
	wg.Wait()
	return again
}

// startOne starts one version, unless it stopped serving meanwhile. It reports
// false when trying again may help.
func (s *Service) startOne(ctx context.Context, ref svc.Ref, last bool) bool {
	log := s.log.With("project", ref.Project, "version", ref.Version)
	ctx, end, err := s.works.begin(ctx, ref)
	if err != nil {
		return true // the daemon stops
	}
	defer end()
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil {
		log.WarnContext(ctx, "cannot look a version up", "error", err)
		return errors.Is(err, svc.NotFound) || errors.Is(err, svc.Gone)
	}
	if !v.Status.Serves() {
		return true
	}
	endpoint, err := s.start(ctx, v)
	switch {
	case err == nil:
		s.routes.started(ref, &endpoint)
		log.InfoContext(ctx, "version serves again", "production", v.Production)
	case ctx.Err() != nil:
	case !last || retriable(err):
		log.WarnContext(ctx, "version does not start yet", "error", redact(err.Error(), v.Env))
		return false
	default:
		log.ErrorContext(ctx, "version does not start", "production", v.Production, "error", redact(err.Error(), v.Env))
		s.routes.started(ref, nil)
	}
	return true
}

func (s *Service) start(ctx context.Context, v svc.Version) (Endpoint, error) {
	r := &run{Service: s, v: v, log: s.log, patience: impatient}
	if err := r.open(ctx); err != nil {
		return Endpoint{}, err
	}
	return s.deps.Runtimes.Serve(ctx, v.Ref)
}

// retriable: the store did not answer, which will pass however long it takes. A
// bundle that is not there, and a worker that does not start, rarely change by
// waiting.
func retriable(err error) bool {
	code := svc.CodeOf(err)
	return code == codeUnreadable || code == codeNoData
}
