package dirstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
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
	file *os.File
	turn chan struct{}
}

func openLock(root *os.Root) (*lock, error) {
	f, err := root.OpenFile(lockName, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &lock{f, make(chan struct{}, 1)}, nil
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
	return errors.Join(do(), l.flock(syscall.LOCK_UN))
}

func (l *lock) acquire(ctx context.Context) error {
	for pause := firstTry; ; pause = min(2*pause, lastTry) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func (l *lock) flock(how int) error {
	if err := syscall.Flock(int(l.file.Fd()), how); err != nil {
		return fmt.Errorf("lock directory of objects: %w", err)
	}
	return nil
}
