package cowvfs

import (
	"fmt"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// conn is one open file of a connection: the database or its WAL. The engine has its
// address; the File keeps it alive until the engine has closed it. Only the goroutine of the
// connection uses it.
type conn struct {
	file        *File
	index       uintptr // the first block of the wal-index, once it is mapped
	checkpoints bool    // the engine is copying the WAL into the database
}

// mayWrite rejects writes to the database that capture would not see.
func (c *conn) mayWrite() error {
	f := c.file
	switch {
	case f.capture == nil:
		return nil
	case c.checkpoints:
		if file, _ := f.held(); file { // the engine closes the last connection without a lock
			return errHeld
		}
		return nil
	}
	if id, _ := f.capture.status(); id != 0 {
		return errNotWAL
	}
	return nil // nothing is captured yet, and the first segment has all pages
}

// endWrite records, while the write lock is still held, what the transaction left in the
// wal-index, and releases the lock by unlock.
func (c *conn) endWrite(unlock func() int32) int32 {
	k := c.file.capture
	if k == nil || c.index == 0 {
		return unlock()
	}
	fresh, err := k.committed(parseIndex(view(c.index, indexHeaderSize)))
	if err != nil {
		c.file.report("follow the WAL", err)
	}
	if fresh {
		c.file.wrote()
	}
	rc := unlock()
	if fresh && k.notify != nil {
		k.notify()
	}
	return rc
}

// add keeps c alive, whose address the engine is about to get.
func (f *File) add(c *conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[c] = struct{}{}
}

func (f *File) remove(c *conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

// refusal returns why a PRAGMA must not run, or "": PRAGMAs by which commits would bypass the
// WAL and its index are rejected.
func (f *File) refusal(name, arg string) string {
	arg = strings.ToLower(strings.Trim(arg, `'"`))
	switch strings.ToLower(name) {
	case "journal_mode":
		if arg != "" && arg != "wal" {
			return fmt.Sprintf("journal_mode must stay wal, not %s: the changes of this database are read from its WAL", arg)
		}
	case "locking_mode":
		if arg == "exclusive" {
			return "locking_mode must stay normal: the changes of this database are read from its WAL"
		}
	}
	return ""
}

// beforeReset prevents loss when fn restarts the WAL, with header, or ends it. It returns the
// result of fn, or code when fn must not run.
func (f *File) beforeReset(code int32, header []byte, fn func() int32) int32 {
	if !f.Hydrated() { // the engine may be configured not to sync
		if err := f.layer.persist(f.db.Sync); err != nil {
			f.report("save page map", err)
			return code
		}
	}
	if f.capture == nil {
		return fn()
	}
	if _, wal := f.held(); wal {
		return code
	}
	rc, err := f.capture.reset(header, fn)
	if err != nil {
		f.report("stage the WAL before it restarts", err)
		return code
	}
	return rc
}

// walStep is how many bytes the WAL may grow before WALRoom is asked again.
const walStep = 4 << 20

// mayGrow reports whether the WAL may have end bytes.
func (f *File) mayGrow(end int64) bool {
	if f.walRoom != nil && end > f.walMay {
		f.walMay = min(f.walRoom(), end+walStep)
	}
	return f.walRoom == nil || end <= f.walMay
}

// resized records that the WAL's file has size bytes, if rc is a success, and returns rc.
func (f *File) resized(size int64, rc int32) int32 {
	if rc == lib.SQLITE_OK {
		f.walSize.Store(size)
	}
	return rc
}

// checkpointLock takes or releases, by fn, the checkpoint lock. It is not granted while the
// file is held.
func (f *File) checkpointLock(take bool, fn func() int32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if take && f.holds > 0 {
		return lib.SQLITE_BUSY
	}
	rc := fn()
	switch {
	case rc != lib.SQLITE_OK:
	case take:
		f.checkpoints++
	default:
		f.checkpoints--
		if f.checkpoints == 0 && f.quiet != nil {
			close(f.quiet)
			f.quiet = nil
		}
	}
	return rc
}

// restartLock takes, by fn, the locks for a restart of the WAL, which the engine requests
// when all of the WAL is in the database file.
func (f *File) restartLock(fn func() int32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.walHolds > 0 {
		return lib.SQLITE_BUSY
	}
	rc := fn()
	if rc == lib.SQLITE_OK {
		f.copied = true
	}
	return rc
}

func (f *File) held() (file, wal bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holds > 0, f.walHolds > 0
}

// wrote records that frames of the WAL are not in the database file.
func (f *File) wrote() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.copied = false
}
