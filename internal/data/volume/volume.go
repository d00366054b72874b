package volume

import (
	"context"
	"os"
	"strconv"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// Names of databases with a meaning.
const (
	// SharedDatabase is the database of the kinds whose resources are many and
	// small. Its rows name blobs.
	SharedDatabase = "sys"
	// UserPrefix begins the names of the databases whose SQL is the user's.
	UserPrefix = "database-"
	// OwnPrefix begins the names of the databases that belong to one version alone: a
	// child starts without them, unless a release made it.
	OwnPrefix = "own-"
)

// Volumes are the databases of one version. Database opens or creates one by name
// (lower-case letters, digits, "-", "_" and, not first, "."; at most 200 bytes). A name
// made of a resource must be encoded, because resources have other letters too. Callers
// with the same name share a database, and
// Volumes closes it.
type Volumes interface {
	Database(ctx context.Context, name string) (Database, error)
	// Exists reports whether the version has written, inherited or opened a database. It opens
	// none, and may list the object store.
	Exists(ctx context.Context, name string) (bool, error)
	Blobs() Blobs
	// Temp creates an empty file on the disk of the databases. The caller closes and
	// deletes it; the next opening of the version deletes files left by a crash.
	Temp() (*os.File, error)
}

// Database is one SQLite file of a version, replicated to the object store. Every
// write goes through Write, which has the version's write gate.
type Database interface {
	// Read runs fn on a pooled connection that cannot write.
	Read(ctx context.Context, fn func(*raw.Conn) error) error
	// Write runs fn on the one connection that can write. fn owns its transaction and
	// must leave none open. When Write returns, the committed transactions are on
	// disk and, with SVC_DURABILITY=sync, in the object store.
	Write(ctx context.Context, fn func(*raw.Conn) error) error
	// Record is Write for changes that have happened already, as those of files that are
	// followed. It is never held or rejected because the object store is behind: the caller has
	// the changes stopped when Late says so.
	Record(ctx context.Context, fn func(*raw.Conn) error) error
	// Late reports whether the object store is so far behind that Write rejects writes. It may be
	// true for a moment after the process was suspended.
	Late() bool
	// Ship returns when everything committed before the call is in the object store.
	Ship(ctx context.Context) error
	// History returns the database's position.
	History() History
	// Mark returns a number that changes with each write, for caches: what a Read saw
	// between two equal marks is what a Read would see now, if Mark returns the same number
	// again. ok is false while a write runs and while reads are rejected.
	Mark(ctx context.Context) (mark uint64, ok bool)
}

// History is a database's position among versions that share history.
type History struct {
	Parent string // version id of the parent; "" for a root
	Fork   uint64 // the parent's transaction at the cut
	Head   uint64 // its newest transaction
}

// ForkTXID is Fork as it appears in the API; "" for a root.
func (h History) ForkTXID() string {
	if h.Parent == "" {
		return ""
	}
	return strconv.FormatUint(h.Fork, 10)
}

// HeadTXID is Head as it appears in the API.
func (h History) HeadTXID() string { return strconv.FormatUint(h.Head, 10) }
