package cowvfs

import (
	"fmt"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// conn is one open file of a connection: the database or its WAL. The engine
// has its address; the File holds it until the engine has closed it. It is used
// by the goroutine that uses the connection.
type conn struct {
	file        *File
	index       uintptr // the first block of the wal-index, once it is mapped
	checkpoints bool    // the engine is copying the WAL into the database
}

// mayWrite refuses what would change the database behind capture's back.
func (c *conn) mayWrite() error {
	f := c.file
	switch {
	case f.capture == nil:
		return nil
	case c.checkpoints:
		if file, _ := f.held(); file { // the last connection is being closed: that asks for no lock
			return errHeld
		}
		return nil
	}
	if id, _ := f.capture.status(); id != 0 {
		return errNotWAL
	}
	return nil // nothing is captured yet: the first segment has all pages
}

// endWrite looks, while the write lock is still held, at what the transaction
// left in the wal-index, and gives the lock back by unlock.
func (c *conn) endWrite(unlock func() int32) int32 {
	k := c.file.capture
	if k == nil || c.index == 0 {
		return unlock()
	}
	fresh, err := k.committed(parseIndex(view(c.index, indexHeaderSize)))
	if err != nil {
		c.file.report("following the WAL", err)
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

// hold keeps c, whose address the engine is about to get.
func (f *File) hold(c *conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[c] = struct{}{}
}

func (f *File) drop(c *conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

// refusal says why a PRAGMA must not run, or nothing: those by which commits
// would not go through the WAL and its index.
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

// beforeReset makes sure that nothing is lost when fn lets the WAL begin anew,
// with header, or end. It returns what fn does, or code when it must not run.
func (f *File) beforeReset(code int32, header []byte, fn func() int32) int32 {
	if !f.Hydrated() { // without a sync by the engine, if it is told to make none
		if err := f.layer.persist(f.db.Sync); err != nil {
			f.report("keeping which pages are here", err)
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
		f.report("staging the WAL before it begins anew", err)
		return code
	}
	return rc
}

// checkpointLock takes or gives back, by fn, the lock of whoever copies the WAL
// into the database. A held file does not give it.
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

// restartLock takes, by fn, the lock of whoever lets the WAL begin anew, which
// the engine asks for when all of the WAL is in the database file.
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

// wrote notes that frames of the WAL are not in the database file.
func (f *File) wrote() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.copied = false
}
