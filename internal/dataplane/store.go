package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

const (
	maxReaders  = 4
	busyTimeout = 5 * time.Second
)

var errClosed = errors.New("the data of this version is closed")

// store is one SQLite file: one connection that writes and up to maxReaders
// that cannot, opened when first needed; and its log.
type store struct {
	name    string
	volumes *Volumes
	base    *branch.StoreBase // nil unless branched
	path    string
	log     *replica.Log
	file    *cowvfs.File
	ship    *shipper
	disk    disk
	warm    *warmPages // while pages come from the parent's file; else nil

	writer chan *raw.Conn // holds the writer while it is free
	idle   chan *raw.Conn // readers that are free
	room   chan struct{}  // one token for each reader that may still be opened
	done   chan struct{}  // closed by stopUse

	writing    atomic.Pointer[chan struct{}] // of the write under way: closed at its end
	compacting atomic.Bool
	unburied   []string // superseded files that no dead list names yet

	blobDropped chan struct{} // of the shared store: holds a token after a blob was dropped
}

// prepareWriter makes c the one connection that writes.
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

// Read runs fn on a reader. In sync mode what fn saw is durable when it returns,
// whatever it returns.
func (s *store) Read(ctx context.Context, fn func(*raw.Conn) error) error {
	if err := s.volumes.mayServe(ctx); err != nil {
		return err
	}
	err := s.read(ctx, fn)
	if !s.volumes.cfg.Sync {
		return err
	}
	// An error, too, tells what it has read.
	return errors.Join(err, s.seenDurable(ctx))
}

func (s *store) read(ctx context.Context, fn func(*raw.Conn) error) error {
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { s.idle <- c }()
	defer c.Until(ctx)()
	return fn(c)
}

// seenDurable waits until all that a read may have seen is in the log. A commit
// can be seen a moment before the shipper hears of it: so a write under way is
// waited for.
func (s *store) seenDurable(ctx context.Context) error {
	if writing := s.writing.Load(); writing != nil {
		select {
		case <-*writing:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.ship.await(ctx, s.ship.mark())
}

func (s *store) reader(ctx context.Context) (*raw.Conn, error) {
	select {
	case c := <-s.idle: // the one used last need not be first, all are warm
		return c, nil
	default:
	}
	select {
	case <-s.done:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-s.idle:
		return c, nil
	case <-s.room:
		c, err := s.openReader()
		if err != nil {
			s.room <- struct{}{}
		}
		return c, err
	}
}

func (s *store) openReader() (*raw.Conn, error) {
	c, err := raw.Open(s.path, raw.Options{ReadOnly: true, VFS: cowvfs.Name, BusyTimeout: busyTimeout})
	if err != nil {
		return nil, err
	}
	if err := c.Script(`PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY;`); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Write runs fn on the writer, behind the gate. It is held, and then refused,
// while the log does not follow. What fn committed is on the disk when it returns
// nil, or in sync mode in the log.
func (s *store) Write(ctx context.Context, fn func(*raw.Conn) error) error {
	if err := s.volumes.mayServe(ctx); err != nil {
		return err
	}
	if err := s.ship.admit(ctx); err != nil {
		return err
	}
	before := s.ship.mark()
	err := s.write(ctx, fn)
	after := s.ship.mark()
	switch {
	case s.volumes.cfg.Sync:
		return errors.Join(err, s.ship.await(ctx, after))
	case after == before: // nothing was committed
		return err
	}
	return errors.Join(err, s.toDisk())
}

// toDisk brings what is committed to the disk. A disk that fails once is not
// trusted again: the host ends, and the next one looks what is there.
func (s *store) toDisk() error {
	err := s.disk.sync()
	if err != nil {
		err = fmt.Errorf("%w: %w", errDisk, err)
		s.volumes.lose(err)
	}
	return err
}

func (s *store) write(ctx context.Context, fn func(*raw.Conn) error) error {
	select {
	case <-s.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	case c := <-s.writer:
		defer func() { s.writer <- c }()
		if err := cmp.Or(ctx.Err(), s.closing()); err != nil { // all were ready
			return err
		}
		if err := s.volumes.gate.enter(ctx); err != nil {
			return err
		}
		defer s.volumes.gate.leave()
		over := make(chan struct{})
		s.writing.Store(&over)
		defer func() { s.writing.Store(nil); close(over) }()
		defer c.Until(ctx)()
		return fn(c)
	}
}

// closing is nil until the store is about to be closed.
func (s *store) closing() error {
	select {
	case <-s.done:
		return errClosed
	default:
		return nil
	}
}

// History says where the store's log stands.
func (s *store) History() binding.History {
	h := binding.History{Head: uint64(s.file.TXID())}
	if s.base != nil {
		h.Parent, h.Fork = s.volumes.manifest.Parent.Version, s.base.TXID
	}
	return h
}
