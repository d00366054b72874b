package dataplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

// closeFlush is how long Close waits for the log. What it does not take stays
// in the cache, for the next process.
const closeFlush = 1500 * time.Millisecond

// Volumes are the stores of one version.
type Volumes struct {
	cfg        Config
	cache      cache
	fate       *fate
	gate       *gate
	background context.Context //nolint:containedctx // of the work that goes on behind the traffic
	cancel     context.CancelFunc
	early      context.Context //nolint:containedctx // of stores that are opened before anybody asks
	giveUp     context.CancelFunc
	work       sync.WaitGroup // of goroutines in the background
	watch      watch
	bodies     *blobCache
	hydrating  chan struct{} // holds the token of the store that hydrates
	compacting chan struct{} // likewise

	owning   sync.Mutex // guards what follows
	grant    *branch.Grant
	manifest *branch.Manifest // nil for a root; set with grant, then constant
	visit    *visit           // nil without an offer of the parent; likewise

	mu     sync.Mutex // guards what follows
	stores map[string]*opening
	closed bool

	open atomic.Pointer[[]*store] // those that are open, for who cannot wait for mu
}

// opening is a store that is open, or about to be.
type opening struct {
	done  chan struct{} // closed when the others are set
	store *store
	err   error
}

var _ binding.Volumes = (*Volumes)(nil)

// Open asks nothing of the object store and opens no file: that begins with the
// first Store. ctx gives values to the work in the background, not its end.
func Open(ctx context.Context, c Config) (*Volumes, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	v := &Volumes{
		cfg: c, cache: cache{c.Dir}, fate: newFate(), gate: newGate(), stores: map[string]*opening{},
		hydrating: make(chan struct{}, 1), compacting: make(chan struct{}, 1),
		bodies: newBlobCache(filepath.Join(c.Dir, tempDir, "blobs")),
	}
	v.open.Store(&[]*store{})
	v.background, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	v.early, v.giveUp = context.WithCancel(v.background)
	return v, nil
}

// Store opens the store of that name; calls with one name share it.
func (v *Volumes) Store(ctx context.Context, name string) (binding.Store, error) {
	if err := branch.CheckStore(name); err != nil {
		return nil, err
	}
	s, err := v.store(ctx, name)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// store opens a store once, different ones at the same time.
func (v *Volumes) store(ctx context.Context, name string) (*store, error) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil, errClosed
	}
	o, known := v.stores[name]
	if !known {
		o = &opening{done: make(chan struct{})}
		v.stores[name] = o
	}
	v.mu.Unlock()
	if !known {
		o.store, o.err = v.openOwned(ctx, name)
		v.opened(name, o)
		close(o.done)
	}
	select {
	case <-o.done:
		return o.store, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (v *Volumes) openOwned(ctx context.Context, name string) (*store, error) {
	if err := v.own(ctx); err != nil {
		return nil, unavailable(ctx, err)
	}
	s, err := v.openStore(ctx, name)
	if err != nil {
		return nil, unavailable(ctx, fmt.Errorf("opening the store %q: %w", name, err))
	}
	return s, nil
}

// unavailable says in words for users that the data cannot be had now, unless err
// has better ones.
func unavailable(ctx context.Context, err error) error {
	var known *svc.Error
	var damaged *replica.CorruptError
	switch {
	case ctx.Err() != nil, errors.As(err, &known):
		return err
	case errors.As(err, &damaged), errors.Is(err, branch.ErrNotRestorable):
		return svc.Errorf(svc.Internal, CodeBroken, "the version's data in the object store is damaged").
			WithHint("the log of the runtime host names the object").Because(err)
	}
	return svc.Errorf(svc.Unavailable, "data_unavailable", "the version's data cannot be opened: the object store or the disk fails").
		WithHint("the log of the runtime host says more").Because(err)
}

// opened notes a store that was opened; one that was not may be tried again.
func (v *Volumes) opened(name string, o *opening) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o.err != nil {
		delete(v.stores, name)
		return
	}
	open := append(slices.Clone(*v.open.Load()), o.store)
	v.open.Store(&open)
}

// settled are the stores that are open, once those are that are about to be.
func (v *Volumes) settled() []*store {
	v.mu.Lock()
	all := slices.Collect(maps.Values(v.stores))
	v.mu.Unlock()
	for _, o := range all {
		<-o.done
	}
	return *v.open.Load()
}

// own makes this process the owner of the version's data, once.
func (v *Volumes) own(ctx context.Context) error {
	v.owning.Lock()
	defer v.owning.Unlock()
	if v.grant != nil {
		return nil
	}
	if err := v.cache.open(ctx); err != nil {
		return err
	}
	var m *branch.Manifest
	var loadErr error
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		m, loadErr = v.loadManifest(ctx)
	}()
	v.watch.run()
	g, err := v.cfg.Branches.Acquire(ctx, v.cfg.Ref, v.cfg.Owner, v.cfg.Parent)
	<-loaded
	switch {
	case err != nil:
		return fmt.Errorf("taking the data of %s: %w", v.cfg.Ref, err)
	case loadErr != nil:
		return loadErr
	}
	v.grant, v.manifest = &g, m
	if v.cfg.Lease > 0 {
		v.work.Go(func() { v.keepLooking(v.background) })
	}
	if v.cfg.Warm != "" && g.New {
		if v.visit, err = newVisit(v.cfg.Warm); err != nil {
			v.cfg.Logger.InfoContext(ctx, "the parent's files cannot be used: the pages come from the object store", "reason", err)
		}
	}
	return v.openEarly()
}

// openEarly begins to open the stores that are known to be there, all at once:
// each has to ask the object store, and the bindings ask for one after another.
func (v *Volumes) openEarly() error {
	names, err := v.cache.stores()
	if err != nil {
		return err
	}
	if v.manifest != nil {
		names = slices.AppendSeq(names, maps.Keys(v.manifest.Stores))
	}
	names = slices.AppendSeq(names, maps.Keys(v.grant.Verified))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v.work.Go(func() {
			_, _ = v.store(v.early, name) // whoever needs it tries again
		})
	}
	return nil
}

// loadManifest says what a child begins with.
func (v *Volumes) loadManifest(ctx context.Context) (*branch.Manifest, error) {
	if v.cfg.Parent == "" {
		return nil, nil //nolint:nilnil // a root has none
	}
	m, err := v.cfg.Branches.Load(ctx, v.cfg.Ref)
	if err == nil && m == nil {
		err = fmt.Errorf("the data of %s was never branched from %s", v.cfg.Ref, v.cfg.Parent)
	}
	return m, err
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
	first := !v.closed
	v.closed = true
	v.mu.Unlock()
	v.giveUp()
	stores := v.settled()
	if !first {
		v.work.Wait()
		return nil
	}
	for _, s := range stores {
		s.stopUse()
	}
	v.flushAll(stores)
	v.cancel()
	v.work.Wait()
	if v.visit != nil {
		v.visit.leaveAll()
	}
	var errs []error
	for _, s := range stores {
		if err := s.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the store %q: %w", s.name, err))
		}
	}
	return errors.Join(errs...)
}

// Ship returns when everything that was committed before the call is in the
// object store. Stores without news ask nothing of it.
func (v *Volumes) Ship(ctx context.Context) error {
	stores := *v.open.Load()
	errs := make([]error, len(stores))
	var all sync.WaitGroup
	for i, s := range stores {
		all.Go(func() { errs[i] = s.ship.flush(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// flushAll ships what is left, all stores at once.
func (v *Volumes) flushAll(stores []*store) {
	ctx, cancel := context.WithTimeout(v.background, closeFlush)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() {
			if err := s.ship.flush(ctx); err != nil && v.fate.check() == nil {
				v.cfg.Logger.Warn("the last writes are on this machine only, until the version starts again, or the machine", "store", s.name, "error", err)
			}
		})
	}
	all.Wait()
}

// stopUse takes every connection back.
func (s *store) stopUse() {
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
}

// close closes the writer, which writes the WAL back into the file, and the file.
func (s *store) close() error {
	w := <-s.writer
	return errors.Join(s.disk.close(), w.Close(), s.file.Detach())
}
