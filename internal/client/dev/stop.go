package dev

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// together is how long signals count as one: npm run dev passes a Ctrl-C on to a program
// that the terminal has told already.
const together = time.Second

// untilForced returns a context for the end of a session, which ends early with a second
// signal. The caller calls release.
func untilForced(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go force(ctx, signals, cancel)
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// force cancels ctx at the first signal that does not belong to the one before.
func force(ctx context.Context, signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			if time.Since(began) >= together {
				cancel(fmt.Errorf("%s signal received", s))
				return
			}
		}
	}
}
