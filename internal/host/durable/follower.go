package durable

import (
	"os"
	"syscall"
)

// change is one step of a database from commit to commit: pages replace those of the same
// number, then the database has count pages.
type change struct {
	count uint32            // 0: the database was deleted
	pages map[uint32][]byte // by number, from 1
}

// follower reads what another process commits to one SQLite file in WAL mode. Its rule: when
// it is not certain that the log alone tells what changed, read everything (resync).
// Calls must not overlap.
type follower struct {
	path string

	known  bool   // captured says what was captured; otherwise the next poll is a resync
	count  uint32 // pages of the database as captured
	closed stamp  // of the file, when no log was there and everything was captured

	files *openFiles // nil while no writer has the database open
}

// openFiles are the files of a database that the writer has open, and what of them is captured.
type openFiles struct {
	main, wal, shm *os.File
	mainIno        uint64
	walIno         uint64

	salt      salt
	captured  uint32 // frames
	sum       checksum
	held      bool     // see lockIndex
	writeLock *os.File // holds the lock of lockWrites; nil without it
}

// stamp tells whether a file was changed between two looks.
type stamp struct {
	ino         uint64
	size, mtime int64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{inode(info), info.Size(), info.ModTime().UnixNano()}, nil
}

func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

// isFile reports whether path is the file with that inode.
func isFile(path string, ino uint64) bool {
	info, err := os.Stat(path)
	return err == nil && inode(info) == ino
}

// live reports whether the writer has the database open.
func (f *follower) live() bool { return f.files != nil }

// forget makes the next poll read everything.
func (f *follower) forget() { f.known = false }

// poll returns what was committed since the last call, nil for nothing.
func (f *follower) poll() (*change, error) {
	if f.files != nil && !isFile(f.path+"-wal", f.files.walIno) {
		if c := f.final(); c != nil {
			return c, nil
		}
	}
	if f.files == nil && !f.attach() {
		return f.pollClosed()
	}
	if f.known {
		if c, ok := f.follow(); ok {
			return c, nil
		}
	}
	return f.resync()
}

// final captures what the writer wrote before it closed the database. The frames are still
// behind our descriptor.
func (f *follower) final() *change {
	var c *change
	ok := false
	if f.known {
		c, ok = f.follow()
	}
	if !ok {
		f.known = false
	} else {
		f.closed, _ = stampOf(f.path)
		// The stamp may be of a file that is open again already, or of another one.
		if _, err := os.Stat(f.path + "-wal"); err == nil || f.closed.ino != f.files.mainIno || f.closed.size != int64(f.count)*pageSize {
			f.closed = stamp{}
		}
	}
	f.detach()
	return c
}

// pollClosed is poll while the writer does not have the database open.
func (f *follower) pollClosed() (*change, error) {
	now, err := stampOf(f.path)
	switch {
	case err != nil && f.known && f.count > 0:
		f.count, f.closed = 0, stamp{}
		return &change{}, nil
	case err != nil:
		return nil, nil //nolint:nilerr // no file: nothing changed
	case f.known && now == f.closed:
		return nil, nil // nothing changed
	}
	return f.resync()
}

// attach opens the files that the writer has open, if it has.
func (f *follower) attach() bool {
	o := &openFiles{}
	var err error
	if o.wal, err = os.Open(f.path + "-wal"); err == nil {
		if o.shm, err = os.Open(f.path + "-shm"); err == nil {
			o.main, err = os.Open(f.path)
		}
	}
	if err == nil {
		var wal, main os.FileInfo
		if wal, err = o.wal.Stat(); err == nil {
			if main, err = o.main.Stat(); err == nil {
				o.walIno, o.mainIno = inode(wal), inode(main)
			}
		}
	}
	if err != nil {
		o.close()
		return false
	}
	f.files = o
	// The log begins with what the file holds. If that was captured, the log continues it.
	if now, err := stampOf(f.path); err != nil || now != f.closed || now.ino != o.mainIno {
		f.known = false
	}
	return true
}

func (f *follower) detach() {
	if f.files != nil {
		f.files.hold(false)
		f.files.close()
		f.files = nil
	}
}

func (o *openFiles) close() {
	for _, file := range []*os.File{o.main, o.wal, o.shm, o.writeLock} {
		if file != nil {
			_ = file.Close()
		}
	}
}

// hold keeps the writer from beginning the log again, or lets it.
func (o *openFiles) hold(hold bool) bool {
	if o.held != hold && lockIndex(o.shm, hold) {
		o.held = hold
	}
	return o.held == hold
}
