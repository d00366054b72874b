package dataplane

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/data/replica"
)

// compactAfter is the default of Config.CompactAfter.
const compactAfter = 64

// compactPause leaves more than half of a processor to requests while a large database gets
// a new image.
const compactPause = 10 * time.Millisecond

// compactLater compacts the log in the background, unless that is in progress.
func (db *database) compactLater() {
	v := db.volumes
	if db.compacting.Swap(true) {
		return
	}
	v.work.Go(func() {
		defer db.compacting.Store(false)
		if err := db.compactNow(v.background, replica.Policy{Pause: compactPause, Files: v.cfg.CompactFiles}); err != nil && v.background.Err() == nil {
			v.cfg.Logger.WarnContext(v.background, "log compaction failed; retrying after more writes", "database", db.name, "error", err)
		}
	})
}

// compactNow waits for its turn, one log of the version at a time, and compacts.
func (db *database) compactNow(ctx context.Context, p replica.Policy) error {
	select {
	case db.volumes.compacting <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-db.volumes.compacting }()
	return db.compact(ctx, p)
}

// compact merges files by the policy, and marks the superseded ones for deletion. It does not
// mark them while the local file reads missing pages from the plan at its opening, unless the
// database is about to be closed. Not safe for concurrent use.
func (db *database) compact(ctx context.Context, p replica.Policy) error {
	res, err := db.log.Compact(ctx, p)
	db.unmarked = append(db.unmarked, res.Superseded...)
	closing := p.MaxPlan > 0
	if len(db.unmarked) == 0 || !db.file.Hydrated() && !closing {
		return err
	}
	if markErr := db.volumes.cfg.Branches.MarkDead(ctx, db.volumes.cfg.Ref, db.unmarked); markErr != nil {
		if err == nil {
			err = markErr
		}
		return err // the keys stay for the next attempt
	}
	db.unmarked = nil
	return err
}
