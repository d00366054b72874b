package dataplane

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// disk syncs the WAL of a database by group commit: one flush for all commits that wait for it.
// The engine does not sync (synchronous=NORMAL), so that a commit does not wait for the sync of
// the previous one. Acknowledged commits are on disk nevertheless.
type disk struct {
	path     string // of the WAL
	syncFile func(*os.File) error

	syncing sync.Mutex // held by the flush in progress; guards the fields below
	file    *os.File
	failed  error // the first failure: a later sync may succeed without the lost data

	mu   sync.Mutex // guards next
	next *flush     // shared by all callers that wait for the current flush to end
}

// flush is one sync of the WAL and its shared result.
type flush struct {
	done chan struct{}
	err  error
}

// sync returns when everything committed before the call is on disk.
func (d *disk) sync() error {
	d.mu.Lock()
	r, first := d.next, d.next == nil
	if first {
		r = &flush{done: make(chan struct{})}
		d.next = r
	}
	d.mu.Unlock()
	if first {
		d.lead(r)
	}
	<-r.done
	return r.err
}

// lead waits for the flush in progress, closes r to new callers, and syncs.
func (d *disk) lead(r *flush) {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	defer close(r.done)
	d.mu.Lock()
	d.next = nil
	d.mu.Unlock()
	if d.file == nil {
		if d.file, r.err = os.Open(d.path); r.err != nil {
			r.err = fmt.Errorf("open WAL to sync: %w", r.err)
			return
		}
	}
	if d.failed == nil {
		if err := d.syncFile(d.file); err != nil {
			d.failed = fmt.Errorf("sync WAL: %w", err)
		}
	}
	r.err = d.failed
}

// close closes the WAL, which its last connection is about to delete.
func (d *disk) close() error {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// errDisk says that a sync failed, so that the state of the file on disk is unknown.
var errDisk = errors.New("the disk failed")
