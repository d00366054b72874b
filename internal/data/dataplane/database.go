package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

const (
	maxReaders  = 4
	busyTimeout = 5 * time.Second
)

var errClosed = errors.New("the version's data is closed")

// database is one SQLite file with its log: one connection that writes and up to maxReaders
// that cannot, opened when first needed.
type database struct {
	name    string
	volumes *Volumes
	base    *branch.DatabaseBase // nil unless inherited
	path    string
	log     *replica.Log
	file    *cowvfs.File
	ship    *shipper
	began   replica.TXID // where the log ended when this process opened it
	disk    disk
	warm    *warmPages // while pages are read from the parent's file; else nil

	continues bool        // the local file was written in this boot of the machine and continues the log
	unclaimed atomic.Bool // writes wait for the log until it has one: see mustClaim

	writer chan *raw.Conn // holds the writer while it is free
	idle   chan *raw.Conn // free readers
	room   chan struct{}  // one token for each reader that may still be opened
	done   chan struct{}  // closed by drain

	writing    atomic.Pointer[chan struct{}] // closed at the end of the write in progress; nil without one
	writes     atomic.Uint64                 // writes that have ended
	compacting atomic.Bool
	trimming   atomic.Bool
	capped     bool     // the engine has a limit of pages; only the holder of the writer uses it
	unmarked   []string // superseded files that are in no dead list yet

	blobUnreferenced chan struct{} // of the shared database: holds a token after a blob was unreferenced
}

// prepareWriter configures c as the connection that writes.
func prepareWriter(ctx context.Context, c *raw.Conn) error {
	defer c.Until(ctx)()
	return c.Script(`
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = NORMAL; -- see disk
		PRAGMA foreign_keys = ON;
		PRAGMA trusted_schema = OFF;
		PRAGMA cache_size = -4000;
		PRAGMA temp_store = MEMORY;`)
}

// Read runs fn on a reader. In sync mode everything that fn saw is durable when Read returns,
// with or without an error.
func (db *database) Read(ctx context.Context, fn func(*raw.Conn) error) error {
	if err := db.volumes.mayServe(ctx); err != nil {
		return err
	}
	err := db.read(ctx, fn)
	if !db.volumes.cfg.Sync {
		return err
	}
	// An error may reveal what fn has read.
	return errors.Join(err, db.awaitDurable(ctx))
}

func (db *database) read(ctx context.Context, fn func(*raw.Conn) error) error {
	c, err := db.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { db.idle <- c }()
	defer c.Until(ctx)()
	return fn(c)
}

// awaitDurable waits until the log has everything that a read may have seen. A reader can see
// a commit before the shipper is notified, so awaitDurable first waits for a write in progress.
func (db *database) awaitDurable(ctx context.Context) error {
	if writing := db.writing.Load(); writing != nil {
		select {
		case <-*writing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return db.ship.await(ctx, db.ship.mark())
}

func (db *database) reader(ctx context.Context) (*raw.Conn, error) {
	select {
	case c := <-db.idle: // any: all are warm
		return c, nil
	default:
	}
	select {
	case <-db.done:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-db.idle:
		return c, nil
	case <-db.room:
		c, err := db.openReader()
		if err != nil {
			db.room <- struct{}{}
		}
		return c, err
	}
}

// options are those of a connection. Only statements of users may need plans by parameters.
func (db *database) options(readOnly bool) raw.Options {
	return raw.Options{
		ReadOnly: readOnly, VFS: cowvfs.Name, BusyTimeout: busyTimeout,
		StablePlans: !strings.HasPrefix(db.name, volume.UserPrefix),
	}
}

func (db *database) openReader() (*raw.Conn, error) {
	c, err := raw.Open(db.path, db.options(true))
	if err != nil {
		return nil, err
	}
	if err := c.Script(`PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY;`); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Write runs fn on the writer, behind the gate. While the log does not follow, Write is held and
// then rejected. When it returns nil, the commits of fn are on disk or, in sync mode, in the
// log.
func (db *database) Write(ctx context.Context, fn func(*raw.Conn) error) error {
	if err := db.volumes.mayServe(ctx); err != nil {
		return err
	}
	if err := db.ship.admit(ctx); err != nil {
		return err
	}
	return db.commit(ctx, fn)
}

// Record is Write without waiting for the log.
func (db *database) Record(ctx context.Context, fn func(*raw.Conn) error) error {
	if err := db.volumes.mayServe(ctx); err != nil {
		return err
	}
	return db.commit(ctx, fn)
}

// commit runs fn on the writer, and returns when its commits are as safe as Write says.
func (db *database) commit(ctx context.Context, fn func(*raw.Conn) error) error {
	before := db.ship.mark()
	err := db.write(ctx, fn)
	after := db.ship.mark()
	switch {
	case db.volumes.cfg.Sync:
		return errors.Join(err, db.ship.await(ctx, after))
	case after == before: // nothing was committed
		return err
	case db.unclaimed.Load():
		ctx, cancel := context.WithTimeout(ctx, holdLimit)
		defer cancel()
		return errors.Join(err, db.ship.flush(ctx))
	}
	return errors.Join(err, db.toDisk())
}

// toDisk syncs the commits to disk. After one failure the disk is not trusted again: the worker host
// ends, and the next one reads the state of the disk.
func (db *database) toDisk() error {
	err := db.disk.sync()
	if err != nil {
		err = fmt.Errorf("%w: %w", errDisk, err)
		db.volumes.revoke(err)
	}
	return err
}

func (db *database) write(ctx context.Context, fn func(*raw.Conn) error) error {
	select {
	case <-db.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	case c := <-db.writer:
		defer func() { db.writer <- c }()
		if err := cmp.Or(ctx.Err(), db.closing()); err != nil { // several cases may have been ready
			return err
		}
		if err := db.volumes.gate.enter(ctx); err != nil {
			return err
		}
		defer db.volumes.gate.leave()
		over := make(chan struct{})
		db.writing.Store(&over)
		defer func() { db.writes.Add(1); db.writing.Store(nil); close(over) }()
		defer c.Until(ctx)()
		if err := db.capPages(c); err != nil {
			return err
		}
		defer db.trimLater()
		err := fn(c)
		db.volumes.room.failed(ctx, db.path, err)
		return err
	}
}

// closing returns errClosed once drain has begun.
func (db *database) closing() error {
	select {
	case <-db.done:
		return errClosed
	default:
		return nil
	}
}

// Mark implements volume.Database. A write that begins between its two loads has not returned.
func (db *database) Mark(ctx context.Context) (mark uint64, ok bool) {
	if db.writing.Load() != nil {
		return 0, false
	}
	mark = db.writes.Load()
	return mark, db.closing() == nil && db.volumes.mayServe(ctx) == nil
}

// Late implements volume.Database.
func (db *database) Late() bool {
	age, _ := db.ship.age()
	return age >= db.volumes.cfg.behind()+holdLimit
}

// Ship implements volume.Database.
func (db *database) Ship(ctx context.Context) error { return db.ship.flush(ctx) }

// History returns the database's position.
func (db *database) History() volume.History {
	h := volume.History{Head: uint64(db.file.TXID())}
	if db.base != nil {
		h.Parent, h.Fork = db.volumes.manifest.Parent.Version, db.base.TXID
	}
	return h
}
