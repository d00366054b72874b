package dataplane

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

const (
	maxReaders  = 4
	busyTimeout = 5 * time.Second
)

var errClosed = errors.New("the data of this version is closed")

// store is one SQLite file: one connection that writes and up to maxReaders
// that cannot, opened when first needed.
type store struct {
	path   string
	gate   *sync.RWMutex
	writer chan *raw.Conn // holds the writer while it is free
	idle   chan *raw.Conn // readers that are free
	room   chan struct{}  // one token for each reader that may still be opened
	done   chan struct{}  // closed by close
	once   sync.Once
}

func openStore(ctx context.Context, path string, gate *sync.RWMutex) (*store, error) {
	w, err := raw.Open(path, raw.Options{BusyTimeout: busyTimeout})
	if err != nil {
		return nil, err
	}
	if err := prepareWriter(ctx, w); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	s := &store{
		path: path, gate: gate, done: make(chan struct{}),
		writer: make(chan *raw.Conn, 1),
		idle:   make(chan *raw.Conn, maxReaders),
		room:   make(chan struct{}, maxReaders),
	}
	s.writer <- w
	for range maxReaders {
		s.room <- struct{}{}
	}
	return s, nil
}

func prepareWriter(ctx context.Context, c *raw.Conn) error {
	defer c.Until(ctx)()
	return c.Script(`
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = FULL;
		PRAGMA foreign_keys = ON;
		PRAGMA trusted_schema = OFF;
		PRAGMA cache_size = -4000;
		PRAGMA temp_store = MEMORY;`)
}

// Read runs fn on a reader.
func (s *store) Read(ctx context.Context, fn func(*raw.Conn) error) error {
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { s.idle <- c }()
	defer c.Until(ctx)()
	return fn(c)
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
	c, err := raw.Open(s.path, raw.Options{ReadOnly: true, BusyTimeout: busyTimeout})
	if err != nil {
		return nil, err
	}
	if err := c.Script(`PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY;`); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Write runs fn on the writer, behind the gate.
func (s *store) Write(ctx context.Context, fn func(*raw.Conn) error) error {
	select {
	case <-s.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	case c := <-s.writer:
		defer func() { s.writer <- c }()
		s.gate.RLock()
		defer s.gate.RUnlock()
		defer c.Until(ctx)()
		return fn(c)
	}
}

// close takes every connection back and closes it, the writer last: that
// writes the log back into the file.
func (s *store) close() error {
	var errs []error
	s.once.Do(func() {
		close(s.done)
		w := <-s.writer
		for range maxReaders {
			select {
			case <-s.room:
			case c := <-s.idle:
				errs = append(errs, c.Close())
			}
		}
		errs = append(errs, w.Close())
	})
	return errors.Join(errs...)
}
