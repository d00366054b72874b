package daemon

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// Ping says whether the store answers, and takes what the runtimes write.
// spec: GET /v1/health/deep.
func (s *storage) Ping(ctx context.Context) error {
	if err := s.objects.Ping(ctx); err != nil {
		return err
	}
	return s.lag()
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
