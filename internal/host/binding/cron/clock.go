package cron

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// clock is the time of the machine.
type clock interface {
	now() time.Time
	// sleep returns at a time, or earlier, or with an error when ctx ends.
	sleep(ctx context.Context, until time.Time) error
}

// maxSleep is the longest sleep. Timers do not run while a machine sleeps, and do not see
// that its clock was set: a run is at most this late then.
const maxSleep = 10 * time.Minute

type systemClock struct{}

func (systemClock) now() time.Time { return time.Now().Round(0) } // of the wall clock alone

func (c systemClock) sleep(ctx context.Context, until time.Time) error {
	return backoff.Sleep(ctx, min(until.Sub(c.now()), maxSleep))
}
