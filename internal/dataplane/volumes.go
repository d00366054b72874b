package dataplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/branch"
)

// closeFlush is how long Close waits for the log. What it does not take stays
// in the cache, for the next process.
const closeFlush = 1500 * time.Millisecond

// Volumes are the stores of one version.
type Volumes struct {
	cfg        Config
	cache      cache
	fate       *fate
	gate       sync.RWMutex // writes share it, a cut owns it
	background context.Context
	cancel     context.CancelFunc
	work       sync.WaitGroup // of goroutines in the background
	hydrating  chan struct{}  // holds the token of the store that hydrates
	compacting chan struct{}  // likewise

	mu       sync.Mutex // guards what follows
	grant    *branch.Grant
	manifest *branch.Manifest // nil for a root; set with grant, then constant
	stores   map[string]*store
	closed   bool

	open atomic.Pointer[[]*store] // the values of stores, for who cannot wait for mu
}

var _ binding.Volumes = (*Volumes)(nil)

// Open asks nothing of the object store and opens no file: that begins with the
// first Store. ctx gives values to the work in the background, not its end.
func Open(ctx context.Context, c Config) (*Volumes, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	v := &Volumes{
		cfg: c, cache: cache{c.Dir}, fate: newFate(), stores: map[string]*store{},
		hydrating: make(chan struct{}, 1), compacting: make(chan struct{}, 1),
	}
	v.open.Store(&[]*store{})
	v.background, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return v, nil
}

// Store opens the store of that name; calls with one name share it.
func (v *Volumes) Store(ctx context.Context, name string) (binding.Store, error) { //nolint:ireturn // the interface's method
	if err := branch.CheckStore(name); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.storeLocked(ctx, name)
}

func (v *Volumes) storeLocked(ctx context.Context, name string) (*store, error) {
	if v.closed {
		return nil, errClosed
	}
	if s := v.stores[name]; s != nil {
		return s, nil
	}
	if err := v.own(ctx); err != nil {
		return nil, err
	}
	s, err := v.openStore(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("opening the store %q: %w", name, err)
	}
	v.stores[name] = s
	open := slices.Collect(maps.Values(v.stores))
	v.open.Store(&open)
	return s, nil
}

// own makes this process the owner of the version's data. The caller holds mu.
func (v *Volumes) own(ctx context.Context) error {
	if v.grant != nil {
		return nil
	}
	if err := v.cache.open(); err != nil {
		return err
	}
	if v.cfg.Parent != "" {
		m, err := v.cfg.Branches.Load(ctx, v.cfg.Ref)
		if err == nil && m == nil {
			err = fmt.Errorf("the data of %s was never branched from %s", v.cfg.Ref, v.cfg.Parent)
		}
		if err != nil {
			return err
		}
		v.manifest = m
	}
	g, err := v.cfg.Branches.Acquire(ctx, v.cfg.Ref, v.cfg.Owner, v.cfg.Parent)
	if err != nil {
		return fmt.Errorf("taking the data of %s: %w", v.cfg.Ref, err)
	}
	v.grant = &g
	return nil
}

// lose ends everything: the data is another's, or damaged.
func (v *Volumes) lose(err error) {
	if !v.fate.end(err) {
		return
	}
	v.cfg.Logger.Error("the version's data cannot be served any more", "error", err)
	if v.cfg.Lost != nil {
		go v.cfg.Lost(v.fate.err)
	}
}

// Freeze runs fn while no store of the version is being written: what is on
// disk then is one moment of all of them.
func (v *Volumes) Freeze(fn func() error) error {
	v.gate.Lock()
	defer v.gate.Unlock()
	return fn()
}

// Behind is how long the oldest write has waited for the object store, and why
// the last try to ship one failed, nil if it did not. It returns at once.
func (v *Volumes) Behind() (age time.Duration, failing error) {
	for _, s := range *v.open.Load() {
		a, err := s.ship.lag()
		age = max(age, a)
		if failing == nil {
			failing = err
		}
	}
	return age, failing
}

// Close waits for what runs, ships what the log takes without delay, writes the
// WALs back into the files and closes them. Closing twice is harmless.
func (v *Volumes) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for _, s := range v.stores {
		s.stopUse()
	}
	v.flushAll()
	v.cancel()
	v.work.Wait()
	var errs []error
	for name, s := range v.stores {
		if err := s.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the store %q: %w", name, err))
		}
		delete(v.stores, name)
	}
	return errors.Join(errs...)
}

// flushAll ships what is left, all stores at once. The caller holds mu.
func (v *Volumes) flushAll() {
	ctx, cancel := context.WithTimeout(v.background, closeFlush)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range v.stores {
		all.Go(func() {
			if err := s.ship.flush(ctx); err != nil && v.fate.check() == nil {
				v.cfg.Logger.Warn("the last writes stay on this machine until the version starts again", "store", s.name, "error", err)
			}
		})
	}
	all.Wait()
}

// stopUse takes every connection back.
func (s *store) stopUse() {
	s.once.Do(func() {
		close(s.done)
		w := <-s.writer
		defer func() { s.writer <- w }()
		for range maxReaders {
			select {
			case <-s.room:
			case c := <-s.idle:
				_ = c.Close() // it only read
			}
		}
	})
}

// close closes the writer, which writes the WAL back into the file, and the file.
func (s *store) close() error {
	w := <-s.writer
	return errors.Join(w.Close(), s.file.Detach())
}
