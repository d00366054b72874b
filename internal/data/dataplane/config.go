package dataplane

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// DefaultWindow is how long an acknowledged write may be on this machine alone.
const DefaultWindow = time.Second

// Config identifies a version's data and its places.
type Config struct {
	Ref    svc.Ref
	Parent string // version id of the parent; "" for a root
	Warm   string // offer of the parent's Cut, if the parent is on this machine; "" for none

	Ahead *Ahead // of the parent; nil for none

	Dir      string          // of the cache on this machine; created when missing
	Bucket   objstore.Bucket // of the logs
	Branches *branch.Store
	Owner    svc.Owner
	// Lease is the time after which other nodes take over from a silent owner: the
	// LeaseTTL of Branches; 0: no other node reaches the bucket.
	Lease time.Duration

	// CompactAfter is the number of appended transactions after which a log is compacted;
	// CompactFiles is the number of files that are merged. 0: the defaults.
	CompactAfter, CompactFiles int
	// SyncFile syncs the content of a WAL to disk; nil: fdatasync.
	SyncFile func(*os.File) error

	// History makes points: moments of all shareable databases that are kept in the past of the version.
	History bool
	Now     func() time.Time // for the times of points; nil: time.Now

	Sync   bool          // a write returns when the log has it [D49]
	Window time.Duration // how long a write waits to be shipped, if not Sync; 0: DefaultWindow

	// DiskLimit is how many bytes the databases, the cache of blobs and the files in
	// LogDir may have together; 0: no limit. See room.
	DiskLimit int64
	LogDir    string // "" for none
	// CountBlobs says that Bucket is on the same disk, so that blobs count too.
	CountBlobs bool

	Logger *slog.Logger
	// Revoked, which may be nil, is called once, in its own goroutine, when the data
	// must not be served any more.
	Revoked func(error)
}

func (c *Config) check() error {
	if c.Dir == "" || c.Bucket == nil || c.Branches == nil || c.Logger == nil || c.Owner.Node == "" {
		return errors.New("open data of a version: a directory, a bucket, a branch store, a logger and an owner are required")
	}
	c.CompactAfter = cmp.Or(c.CompactAfter, compactAfter)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.SyncFile == nil {
		c.SyncFile = syncFile
	}
	c.Window, c.Bucket = cmp.Or(c.Window, DefaultWindow), objstore.Told(c.Bucket, c.Logger)
	return nil
}

// behind is the maximum age of an unshipped write before others are held: the window, one
// upload, and a margin.
func (c *Config) behind() time.Duration {
	if c.Sync {
		return syncBehind
	}
	return 2*c.Window + time.Second
}

const (
	syncBehind = 5 * time.Second
	// holdLimit is how long writes are held before they are rejected.
	holdLimit = 5 * time.Second
)
