package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	lockName  = "host.lock"
	lockWait  = 10 * time.Second
	lockEvery = 10 * time.Millisecond
)

// lockDir makes this host the only owner of a data directory, until it closes
// the file or dies. An earlier host of the version may need a moment to die.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the data's lock: %w", err)
	}
	if err := lockFile(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lockFile(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("locking the data: %w", err)
		}
		select {
		case <-ctx.Done():
			return svc.Errorf(svc.Unavailable, "data_in_use", "another runtime still has the version's data open").Because(context.Cause(ctx))
		case <-tick.C:
		}
	}
}
