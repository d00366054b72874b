package dataplane

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// The pace of hydration. Queries go first, and other versions share the machine.
const (
	hydrateDelay = 2 * time.Second // after opening, so that the start goes first
	hydratePause = 20 * time.Millisecond
	warmDelay    = 300 * time.Millisecond // the parent holds its file meanwhile
	warmPause    = 2 * time.Millisecond
	hydrateRetry = 10 * time.Second
)

// pages makes a replica.Source a cowvfs.Source.
type pages struct{ *replica.Source }

// ReadPages reads n pages from page first.
func (p pages) ReadPages(ctx context.Context, first uint32, n int) ([]byte, error) {
	buf := make([]byte, n*p.PageSize())
	return buf, p.Source.ReadPages(ctx, first, buf)
}

// source returns the pages of the database right after txid.
func (db *database) source(ctx context.Context, txid replica.TXID) (cowvfs.Source, error) { //nolint:ireturn // what Attach takes
	plan, err := db.log.Plan(txid)
	if err != nil {
		return nil, err
	}
	src, err := db.log.Source(ctx, plan, db.volumes.cfg.Ahead.take(db.name))
	if err != nil {
		return nil, err
	}
	return pages{src}, nil
}

// afterOpen starts the work in the background.
func (db *database) afterOpen() {
	v := db.volumes
	if !db.file.Hydrated() {
		v.work.Go(func() { db.hydrate(v.background) })
	}
	if plan, err := db.log.Plan(db.log.Position()); err == nil && len(plan) > compactAfter {
		db.compactLater()
	}
	if db.name == volume.SharedDatabase {
		db.blobUnreferenced = make(chan struct{}, 1)
		v.work.Go(func() { db.collectBlobs(v.background) })
	}
}

// hydrate reads the missing pages, one database of the version at a time.
func (db *database) hydrate(ctx context.Context) {
	v := db.volumes
	wait, pace := hydrateDelay, cowvfs.Pace{Pause: hydratePause}
	if db.warm != nil {
		defer db.warm.close()
		wait, pace = warmDelay, cowvfs.Pace{Pause: warmPause}
	}
	for ; backoff.Sleep(ctx, wait) == nil; wait = hydrateRetry {
		select {
		case v.hydrating <- struct{}{}:
		case <-ctx.Done():
			return
		}
		err := db.file.Hydrate(ctx, pace)
		<-v.hydrating
		if err == nil || ctx.Err() != nil {
			return
		}
		v.cfg.Logger.WarnContext(ctx, "background hydration failed; retrying", "database", db.name, "error", err, "retry_in", hydrateRetry)
	}
}
