package dirstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// How often the lock of another process is tried. A process holds it for the time of
// a rename.
const (
	firstTry = 50 * time.Microsecond
	lastTry  = 5 * time.Millisecond
)

// lock allows one change at a time: turn among the goroutines of this process, the
// flock among processes. The kernel releases the flock when its process ends.
type lock struct {
	file *flock.Flock // holds a descriptor only while locked
	turn chan struct{}
}

func newLock(path string) *lock {
	return &lock{flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600)), make(chan struct{}, 1)}
}

// with calls do under the lock, or returns an error when ctx ends first.
func (l *lock) with(ctx context.Context, do func() error) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := l.acquire(ctx); err != nil {
		return err
	}
	return errors.Join(do(), l.file.Unlock())
}

func (l *lock) acquire(ctx context.Context) error {
	for retry := (backoff.Backoff{First: firstTry, Max: lastTry}); ; {
		if ctx.Err() != nil {
			return fmt.Errorf("another program holds the lock of the directory of objects: %w", context.Cause(ctx))
		}
		held, err := l.file.TryLock()
		switch {
		case err != nil:
			return fmt.Errorf("lock directory of objects: %w", err)
		case held:
			return nil
		}
		_ = retry.Sleep(ctx) // the loop sees its error
	}
}
