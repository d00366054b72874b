package dataplane

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	measureEvery = time.Second // the time between measurements while there is room; only writes measure
	warnEvery    = time.Minute
	// leastRoom is what a WAL may have even when nothing is left: without it no row could
	// be deleted. While less than that is left, the engine also gets a limit of pages.
	leastRoom = 64 << 20 // bytes
	pageSize  = 4096     // bytes, the engine's default
	noLimit   = 1<<32 - 2
)

// room knows how much space the files of a version may still use. The limit covers the
// database files, the cache of blobs, the responses of the Cache API, temporary files, logs,
// and blobs in an object store on the same disk (shelf). It does not count what goes
// away by itself: a WAL has at most what is left (or leastRoom), is truncated soon after it
// has grown (trim), and its copies for the object store are deleted when they are stored.
type room struct {
	limit  int64
	dirs   []string
	shelf  *shelf
	logger *slog.Logger

	mu       sync.Mutex // guards the fields below
	files    int64      // space of the files as of measured
	measured time.Time
	warned   time.Time
	failedAt time.Time // of the last line about a write that failed
}

func newRoom(c Config) *room {
	r := &room{limit: c.DiskLimit, dirs: []string{c.Dir}, shelf: newShelf(c), logger: c.Logger}
	if c.LogDir != "" {
		r.dirs = append(r.dirs, c.LogDir)
	}
	return r
}

// left is the number of bytes that are left; it may be negative.
func (r *room) left() int64 {
	if r.limit == 0 {
		return math.MaxInt64
	}
	files := r.measure()
	free := r.limit - files - r.shelf.used()
	r.warn(free)
	return free
}

// measure returns the space of the files, measured again if it was long ago or little is left.
func (r *room) measure() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.limit-r.files < leastRoom || now.Sub(r.measured) >= measureEvery {
		r.files, r.measured = used(r.dirs), now
	}
	return r.files
}

// warn logs that nothing is left, not too often.
func (r *room) warn(free int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); free <= 0 && now.Sub(r.warned) >= warnEvery {
		r.warned = now
		r.logger.Warn("disk space of the version used up; writes that need more fail", "limit", r.limit, "excess", -free)
	}
}

// failed logs a write that failed because the disk is full or does not work, not too often:
// the worker gets the error, and may hide it. A disk that is not full leaves the version's
// own limit as the cause.
func (r *room) failed(ctx context.Context, path string, err error) {
	var e *raw.Error
	if !errors.As(err, &e) || e.Code.Primary() != raw.Full && e.Code.Primary() != raw.IOErr {
		return
	}
	r.mu.Lock()
	now := time.Now()
	recent := now.Sub(r.failedAt) < warnEvery
	if !recent {
		r.failedAt = now
	}
	r.mu.Unlock()
	if recent {
		return
	}
	disk, _ := machine.DiskOf(filepath.Dir(path)) // zero if it does not work
	r.logger.ErrorContext(ctx, "a write to a database failed; others continue to be tried", "database", filepath.Base(path), "error", err,
		"disk_free", disk.Free, "limit", r.limit)
}

// wal is how many bytes a WAL may have.
func (r *room) wal() int64 { return max(r.left(), leastRoom) }

// full is the error for what needs more than is left.
func (r *room) full() error {
	return svc.Errorf(svc.Unavailable, svc.CodeVersionDiskFull, "the version uses all of its disk space of %d MiB", r.limit>>20).
		WithHint("delete data, or raise SVC_VERSION_DISK_MB")
}

// used is the space that the files below dirs take, which may be less than their length.
func used(dirs []string) (sum int64) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil: // deleted meanwhile
				return nil //nolint:nilerr // what cannot be read counts as nothing
			case d.IsDir() && strings.HasSuffix(path, "-ltx"):
				return fs.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "-wal"):
				return nil
			}
			if info, err := d.Info(); err == nil {
				sum += size(info)
			}
			return nil
		})
	}
	return sum
}

// size is the space of a file on the disk: a database whose pages are still in the object
// store is sparse.
func size(info os.FileInfo) int64 {
	const block = 512 // bytes, the unit of st_blocks
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * block
	}
	return info.Size()
}

// capPages gives the engine its limit of pages, with which a statement fails with
// SQLITE_FULL: what the limit of the version leaves to this database, and never less than the
// database has.
func (db *database) capPages(c *raw.Conn) error {
	left := db.volumes.room.left()
	if left >= leastRoom && !db.capped {
		return nil
	}
	pages := int64(noLimit)
	if db.capped = left < leastRoom; db.capped {
		if info, err := os.Stat(db.path); err == nil {
			left += size(info)
		}
		pages = max(left/pageSize, 1)
	}
	return c.Script("PRAGMA max_page_count = " + strconv.FormatInt(pages, 10))
}
