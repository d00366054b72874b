package dataplane

import (
	"errors"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// DefaultWindow is how long an acknowledged write may be on this machine only.
const DefaultWindow = time.Second

// Config says whose data it is and where it lies.
type Config struct {
	Ref    svc.Ref
	Parent string // the version id that the data was branched from; "" for a root
	Warm   string // what the parent's Cut said, if it is on this machine; "" for nothing

	Dir      string          // the cache on this machine; made when missing
	Bucket   objstore.Bucket // of the logs
	Branches *branch.Store
	Owner    branch.Owner
	// Lease is after how long a silent owner is taken for dead by other hosts, the
	// LeaseTTL of Branches; 0: no other host reaches the bucket.
	Lease time.Duration

	Sync   bool          // a write returns when the log has it [D49]
	Window time.Duration // how long a write waits to be shipped, if not Sync; 0: DefaultWindow

	Logger *slog.Logger
	// Lost, which may be nil, learns that the data must not be served any more.
	// It is called once, from a goroutine of its own.
	Lost func(error)
}

func (c *Config) check() error {
	if c.Dir == "" || c.Bucket == nil || c.Branches == nil || c.Logger == nil || c.Owner.Host == "" {
		return errors.New("dataplane: a directory, a bucket, a branch store, a logger and an owner are required")
	}
	if c.Window <= 0 {
		c.Window = DefaultWindow
	}
	return nil
}

// behind is how old an acknowledged write may become before others are held:
// the window, one upload, and some air.
func (c *Config) behind() time.Duration {
	if c.Sync {
		return syncBehind
	}
	return 2*c.Window + time.Second
}

const (
	syncBehind = 5 * time.Second
	// holdLimit is how long writes are held before they are refused.
	holdLimit = 5 * time.Second
)
