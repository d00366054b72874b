package isolate

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/svc"
)

// Lease is a uid that no other process of the machine gets until Close, or until this process ends.
type Lease struct {
	UID  int
	file *os.File // its lock is the lease
}

// Take takes a uid of a range. base is Base.
func Take(base string, from svc.Isolation) (*Lease, error) {
	f, err := openLocks(base)
	if err != nil {
		return nil, err
	}
	var failed error
	for i, start := 0, rand.N(from.Size()); i < from.Size(); i++ { //nolint:gosec // not a secret
		uid := from.First + (start+i)%from.Size()
		if !lock(f, uid, unix.F_WRLCK) {
			continue
		}
		if failed = begin(f, uid); failed == nil {
			return &Lease{uid, f}, nil
		}
		lock(f, uid, unix.F_UNLCK)
	}
	_ = f.Close()
	return nil, svc.Errorf(svc.Unavailable, svc.CodeIsolationUIDs, "all %d uids of SVC_ISOLATION_UIDS are in use", from.Size()).
		WithHint("set a larger range").Because(failed)
}

// Close gives the uid back. Its processes have ended.
func (l *Lease) Close() error { return l.file.Close() }

// openLocks opens the file of locks. The byte at the offset of a uid is locked while the uid is
// taken, and 1 once it was.
func openLocks(base string) (*os.File, error) {
	if err := makeBase(base); err != nil {
		return nil, fmt.Errorf("making the directory of uids: %w", err)
	}
	return os.OpenFile(filepath.Join(base, "uids"), os.O_CREATE|os.O_RDWR, 0o600)
}

// lock locks or unlocks a uid, and reports false if another open file has it.
func lock(f *os.File, uid int, kind int16) bool {
	l := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: int64(uid), Len: 1}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l) == nil
}

// wasUsed reports whether a uid was taken before, since the file was made.
func wasUsed(f *os.File, uid int) bool {
	var b [1]byte
	n, _ := f.ReadAt(b[:], int64(uid)) // beyond the end: never
	return n == 1 && b[0] == 1
}

// begin has a locked uid begin without processes. Check has seen that one which was never used has
// none: looking at all processes would delay each start.
func begin(f *os.File, uid int) error {
	if wasUsed(f, uid) {
		return evict(func(u int) bool { return u == uid })
	}
	_, err := f.WriteAt([]byte{1}, int64(uid))
	return err
}

// Sweep ends processes with uids of a range whose worker host has ended. They had left its process
// group.
func Sweep(base string, from svc.Isolation) error {
	f, err := openLocks(base)
	if err != nil {
		return err
	}
	defer f.Close() // and all locks
	list, err := users(from.Has)
	for _, uid := range list {
		if wasUsed(f, uid) && lock(f, uid, unix.F_WRLCK) {
			err = errors.Join(err, evict(func(u int) bool { return u == uid }))
		}
	}
	return err
}

// Evict ends all processes that have the uid.
func (l *Lease) Evict() error { return evict(func(uid int) bool { return uid == l.UID }) }
