package workerhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	lockName  = "host.lock"
	lockWait  = 10 * time.Second
	lockEvery = 10 * time.Millisecond
)

// lockDir makes this host the only owner of a data directory, until it closes
// the lock or dies. An earlier host of the version may need a moment to die.
func lockDir(ctx context.Context, dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err := lock.TryLockContext(ctx, lockEvery)
	switch {
	case err == nil:
		return lock, nil
	case ctx.Err() != nil:
		err = svc.Errorf(svc.Unavailable, svc.CodeDataInUse, "another runtime still has the version's data open").Because(context.Cause(ctx))
	default:
		err = fmt.Errorf("locking the data: %w", err)
	}
	return nil, errors.Join(err, lock.Close())
}
