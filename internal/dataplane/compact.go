package dataplane

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/replica"
)

// compactAfter is after how many appended files a log is compacted.
const compactAfter = 64

// compactPause leaves more than half of a processor to the requests while a
// large database gets a new image.
const compactPause = 10 * time.Millisecond

// compactLater compacts the log behind the traffic, unless that is under way.
func (s *store) compactLater() {
	v := s.volumes
	if s.compacting.Swap(true) {
		return
	}
	v.work.Go(func() {
		defer s.compacting.Store(false)
		if err := s.compactNow(v.background, replica.Policy{Pause: compactPause}); err != nil && v.background.Err() == nil {
			v.cfg.Logger.WarnContext(v.background, "a log was not compacted", "store", s.name, "error", err)
		}
	})
}

// compactNow is compact when its turn comes: one log of the version at a time.
func (s *store) compactNow(ctx context.Context, p replica.Policy) error {
	select {
	case s.volumes.compacting <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.volumes.compacting }()
	return s.compact(ctx, p)
}

// compact merges what the policy says, and marks what that made superfluous for
// deletion after the grace; but not while the file here still takes its pages from
// what the log was when it was opened, however long that is, unless it is about to
// be closed. Not for several goroutines at once.
func (s *store) compact(ctx context.Context, p replica.Policy) error {
	res, err := s.log.Compact(ctx, p)
	s.unburied = append(s.unburied, res.Superseded...)
	closing := p.MaxPlan > 0
	if len(s.unburied) == 0 || !s.file.Hydrated() && !closing {
		return err
	}
	if buryErr := s.volumes.cfg.Branches.Bury(ctx, s.volumes.cfg.Ref, s.unburied); buryErr != nil {
		if err == nil {
			err = buryErr
		}
		return err // the keys stay for the next time
	}
	s.unburied = nil
	return err
}
