package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// Ping says whether the object store answers at every place that versions need,
// takes what the runtimes write, and hears that this host lives. It asks all at
// once, so that one that is slow hides no other. spec: GET /v1/health/deep.
func (s *storage) Ping(ctx context.Context) error {
	errs := make([]error, len(s.health), len(s.health)+1)
	var asking sync.WaitGroup
	for i, q := range s.health {
		asking.Go(func() { errs[i] = q.do(ctx) })
	}
	asking.Wait()
	return errors.Join(append(errs, s.lag())...)
}

// inquiries are the places, each with the setting that names it, and the lease.
func (s *storage) inquiries(manifests objstore.Bucket) ([]*inquiry, error) {
	list := []*inquiry{
		{name: "SVC_ARTIFACTS_BUCKET", ask: s.objects.Ping},
		{name: "RUNTIME_BUCKET", ask: listing(s.data)},
	}
	if p := s.places.Manifests; p != s.places.Data {
		ask := listing(manifests)
		if p.Dir != "" {
			var err error
			if ask, err = directory(p.Dir, ask); err != nil {
				return nil, fmt.Errorf("BRANCH_STORE: %w", err)
			}
		}
		list = append(list, &inquiry{name: "BRANCH_STORE", ask: ask})
	}
	if s.lease != nil {
		list = append(list, &inquiry{name: "host lease", ask: fresh(s.lease, s.places.Lease)})
	}
	return list, nil
}

// listing reads the names of a few records. A bucket that is gone says so, which
// it would not to who asks for an object.
func listing(b objstore.Bucket) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := b.List(ctx, "hosts/", "", 1)
		return err
	}
}

// directory looks whether dir is still the one that was opened: we would go on
// in one that was moved away or unmounted, and the hosts that start would not.
func directory(dir string, ask func(context.Context) error) (func(context.Context) error, error) {
	opened, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		now, err := os.Stat(dir)
		if err == nil && !os.SameFile(opened, now) {
			err = fmt.Errorf("%s is another directory than at the start", dir)
		}
		return errors.Join(err, ask(ctx))
	}, nil
}

// fresh looks at the age of a lease: with one older than its TTL, other hosts
// may take this one's versions.
func fresh(l *branch.Lease, ttl time.Duration) func(context.Context) error {
	return func(context.Context) error {
		if age := l.Age(); age > ttl {
			return fmt.Errorf("it was not renewed for %s, and is worth %s", age.Round(time.Millisecond), ttl)
		}
		return nil
	}
}

func (d *Daemon) lagging() error { return lagging(d.supervisor.Runtimes(), lagLimit(d.cfg)) }

// lagging looks for runtimes whose writes the store does not take.
func lagging(runtimes []supervisor.Runtime, limit time.Duration) error {
	for _, r := range runtimes {
		if r.State == supervisor.StateServing && r.Behind > limit {
			return svc.Errorf(svc.Unavailable, "data_behind", "the store is %s behind with the data of %s: %s",
				r.Behind.Round(time.Second), r.Ref, r.DataError)
		}
	}
	return nil
}

const (
	lagAir  = 10 * time.Second
	lagSync = 5 * time.Second // a write that waits for the store
)

// lagLimit is how old a write may be that the store does not have before health
// says so: as old as a runtime lets it become before it holds others, which is
// no fault yet, and some air.
func lagLimit(cfg *config.Daemon) time.Duration {
	if cfg.Durability == "sync" {
		return lagSync + lagAir
	}
	return 2*cfg.SyncWindow + time.Second + lagAir
}
