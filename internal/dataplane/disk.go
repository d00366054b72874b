package dataplane

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// disk brings the WAL of a store to the disk, once for all commits that wait for
// it: the engine itself is told to leave that alone (synchronous=NORMAL), so that
// a commit does not wait for the sync of the one before it. What is acknowledged
// is on the disk all the same.
type disk struct {
	path string // of the WAL

	syncing sync.Mutex // held by the round that syncs; guards what follows
	file    *os.File
	failed  error // the first: the next sync may succeed, and what failed is not there

	mu   sync.Mutex // guards next
	next *round     // of those who wait for the round after the one that syncs
}

// round is one sync and those who wait for it.
type round struct {
	done chan struct{}
	err  error
}

// sync returns when all that was committed before the call is on the disk.
func (d *disk) sync() error {
	d.mu.Lock()
	r, first := d.next, d.next == nil
	if first {
		r = &round{done: make(chan struct{})}
		d.next = r
	}
	d.mu.Unlock()
	if first {
		d.lead(r)
	}
	<-r.done
	return r.err
}

// lead waits for the round that syncs, lets nobody else join, and syncs.
func (d *disk) lead(r *round) {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	defer close(r.done)
	d.mu.Lock()
	d.next = nil
	d.mu.Unlock()
	if d.file == nil {
		if d.file, r.err = os.Open(d.path); r.err != nil {
			r.err = fmt.Errorf("opening the WAL to sync it: %w", r.err)
			return
		}
	}
	if d.failed == nil {
		if err := syncFile(d.file); err != nil {
			d.failed = fmt.Errorf("syncing the WAL: %w", err)
		}
	}
	r.err = d.failed
}

// close lets go of the WAL, which its last connection is about to remove.
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

// errDisk says that the disk has refused to keep what was written: nobody knows
// what of it is there.
var errDisk = errors.New("the disk does not keep the data")
