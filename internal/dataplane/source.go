package dataplane

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/replica"
)

// The pace of hydration: what queries ask for goes first, and the machine is
// shared with other versions.
const (
	hydrateDelay = 2 * time.Second // after opening: starting goes first
	hydratePause = 20 * time.Millisecond
	warmDelay    = 300 * time.Millisecond // the parent holds its file meanwhile
	warmPause    = 2 * time.Millisecond
	hydrateRetry = 10 * time.Second
)

// pages are those of the log as a file is filled with them.
type pages struct{ *replica.Source }

// ReadPages reads n pages from page first.
func (p pages) ReadPages(ctx context.Context, first uint32, n int) ([]byte, error) {
	buf := make([]byte, n*p.PageSize())
	return buf, p.Source.ReadPages(ctx, first, buf)
}

// source gives the pages of the database right after txid.
func (s *store) source(ctx context.Context, txid replica.TXID) (cowvfs.Source, error) { //nolint:ireturn // what Attach takes
	plan, err := s.log.Plan(txid)
	if err != nil {
		return nil, err
	}
	src, err := s.log.Source(ctx, plan)
	if err != nil {
		return nil, err
	}
	return pages{src}, nil
}

// afterOpen begins what goes on behind the traffic.
func (s *store) afterOpen() {
	v := s.volumes
	if !s.file.Hydrated() {
		v.work.Go(func() { s.hydrate(v.background) })
	}
	if plan, err := s.log.Plan(s.log.Position()); err == nil && len(plan) > compactAfter {
		s.compactLater()
	}
	if s.name == binding.SharedStore {
		s.blobDropped = make(chan struct{}, 1)
		v.work.Go(func() { s.collectBlobs(v.background) })
	}
}

// hydrate brings the pages that are missing, one store of the version at a time.
func (s *store) hydrate(ctx context.Context) {
	v := s.volumes
	wait, pace := hydrateDelay, cowvfs.Pace{Pause: hydratePause}
	if s.warm != nil {
		defer s.warm.retire()
		wait, pace = warmDelay, cowvfs.Pace{Pause: warmPause}
	}
	for ; sleep(ctx, wait); wait = hydrateRetry {
		select {
		case v.hydrating <- struct{}{}:
		case <-ctx.Done():
			return
		}
		err := s.file.Hydrate(ctx, pace)
		<-v.hydrating
		if err == nil || ctx.Err() != nil {
			return
		}
		v.cfg.Logger.WarnContext(ctx, "a store's missing pages do not come", "store", s.name, "error", err)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
