package fork

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// The limit and the interval of attempts to cut a parent's runtime.
const (
	cutWait  = 20 * time.Second
	cutRetry = 100 * time.Millisecond
)

// cut returns a cut of the parent's data. While the runtime starts or stops, it
// retries until cutWait; then, or immediately if the runtime crashed and is restarted
// after a wait, it cuts the data in the object store.
func (s *Service) cut(ctx context.Context, parent svc.Ref) (branch.VersionCut, error) {
	waiting, cancel := context.WithTimeout(ctx, cutWait)
	defer cancel()
	for {
		cut, err := s.cutNow(ctx, parent)
		if svc.CodeOf(err) == svc.CodeRuntimeRestarting {
			cut, err = s.cutWithout(ctx, parent, err)
		}
		if err == nil || !passing(svc.CodeOf(err)) {
			return cut, err
		}
		select {
		case <-time.After(cutRetry):
		case <-waiting.Done():
			return s.cutWithout(ctx, parent, err)
		}
	}
}

// passing reports whether code is the error of a runtime that is starting or stopping.
func passing(code string) bool {
	switch code {
	case svc.CodeRuntimeNotOpen, svc.CodeRuntimeOpen, svc.CodeRuntimeStopping, svc.CodeRuntimeUnavailable:
		return true
	}
	return false
}

// cutNow cuts the data in the parent's runtime or, if the parent is archived and has no
// runtime, in the object store.
func (s *Service) cutNow(ctx context.Context, parent svc.Ref) (branch.VersionCut, error) {
	p, err := s.deps.Versions.Version(ctx, parent)
	if err != nil {
		return branch.VersionCut{}, err
	}
	cut, err := s.deps.Runtimes.Cut(ctx, parent) // an archived version may still have its runtime
	if !p.AsleepAt.IsZero() && svc.CodeOf(err) == svc.CodeRuntimeNotOpen {
		return s.cutAsleep(ctx, parent)
	}
	if p.Status != svc.StatusArchived || svc.CodeOf(err) != svc.CodeRuntimeNotOpen {
		return cut, err
	}
	if err := s.Archive(ctx, parent); err != nil {
		return branch.VersionCut{}, err
	}
	return s.cutStored(ctx, parent)
}

// cutAsleep cuts a parent that sleeps, after its start: without it all of the data would
// have to be shipped and verified first.
func (s *Service) cutAsleep(ctx context.Context, parent svc.Ref) (branch.VersionCut, error) {
	if err := s.deps.Awake(ctx, parent); err != nil {
		return s.cutWithout(ctx, parent, err)
	}
	return s.deps.Runtimes.Cut(ctx, parent)
}

// cutWithout cuts a parent whose runtime does not start: it ships the cached data to
// the object store, keeps the cache, and cuts before a runtime can open the data. A
// runtime that has started meanwhile is the error runtime_open.
func (s *Service) cutWithout(ctx context.Context, parent svc.Ref, cause error) (cut branch.VersionCut, err error) {
	p, err := s.deps.Versions.Version(ctx, parent)
	if err != nil {
		return cut, errors.Join(cause, err)
	}
	done := false
	err = s.ship(ctx, p, func() (err error) {
		cut, err = s.cutStored(ctx, parent)
		done = true
		return err
	})
	switch {
	case svc.CodeOf(err) == svc.CodeRuntimeOpen:
		return cut, err
	case err != nil:
		return branch.VersionCut{}, errors.Join(cause, err)
	case done:
		return cut, nil
	}
	return s.cutStored(ctx, parent) // nothing is cached
}

func (s *Service) cutStored(ctx context.Context, parent svc.Ref) (cut branch.VersionCut, err error) {
	cut.Databases, err = s.deps.CutStored(ctx, parent)
	return cut, err
}
