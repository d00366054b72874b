package health

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Bucket returns a check that lists b. A missing bucket answers a list with an error,
// but a read with "no such object".
func Bucket(b objstore.Bucket) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := b.List(ctx, "hosts/", "", 1)
		return err
	}
}

// Directory returns a check of the bucket in dir that also fails if dir is no longer
// the same directory as at the call of Directory: a running process keeps using a
// directory that was moved or unmounted, but a later worker host would use another.
func Directory(dir string, b objstore.Bucket) (func(context.Context) error, error) {
	opened, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	check := Bucket(b)
	return func(ctx context.Context) error {
		now, err := os.Stat(dir)
		if err == nil && !os.SameFile(opened, now) {
			err = fmt.Errorf("%s is not the directory that it was at the start", dir)
		}
		return errors.Join(err, check(ctx))
	}, nil
}

// Lease returns a check that the lease of this node is not older than its TTL. After
// the TTL other nodes may take over its versions.
func Lease(age func() time.Duration, ttl time.Duration) func(context.Context) error {
	return func(context.Context) error {
		if age := age(); age > ttl {
			return fmt.Errorf("host lease expired: last renewed %s ago, TTL %s", age.Round(time.Millisecond), ttl)
		}
		return nil
	}
}

// Lag returns a check for unreplicated writes: its error is data_behind for the first
// serving runtime whose oldest write is older than limit.
func Lag(runtimes func() []svc.Runtime, limit time.Duration) func(context.Context) error {
	return func(context.Context) error {
		for _, r := range runtimes() {
			if r.State == svc.RuntimeServing && r.Behind > limit {
				return svc.Errorf(svc.Unavailable, svc.CodeDataBehind, "the object store is %s behind with the data of %s: %s",
					r.Behind.Round(time.Second), r.Ref, r.DataError)
			}
		}
		return nil
	}
}

const (
	lagMargin = 10 * time.Second
	lagSync   = 5 * time.Second // a write that waits for the object store
)

// LagLimit returns the limit for Lag: the lag at which a runtime holds writes, and a
// margin. sync and window are SVC_DURABILITY and SVC_SYNC_WINDOW.
func LagLimit(sync bool, window time.Duration) time.Duration {
	if sync {
		return lagSync + lagMargin
	}
	return 2*window + time.Second + lagMargin
}
