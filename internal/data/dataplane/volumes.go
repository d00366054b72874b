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

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// closeFlush is how long Close waits for the log. Unshipped commits stay in the cache, for the
// next process.
const closeFlush = 1500 * time.Millisecond

// Volumes implements volume.Volumes: the databases of one version.
type Volumes struct {
	cfg         Config
	cache       cache
	revoked     *revocation
	gate        *gate
	history     history
	background  context.Context //nolint:containedctx // of the work in the background
	cancel      context.CancelFunc
	early       context.Context //nolint:containedctx // of databases that are opened in advance
	cancelEarly context.CancelFunc
	work        sync.WaitGroup // goroutines in the background
	watch       watch
	bodies      *blobCache
	room        *room
	hydrating   chan struct{} // holds a token while a database hydrates
	compacting  chan struct{} // holds a token while a log is compacted

	claiming   sync.Mutex // guards the fields below
	grant      *branch.Grant
	manifest   *branch.Manifest // nil for a root; set with grant, then constant
	warmReader *warmReader      // nil without an offer of the parent; set with grant, then constant

	mu        sync.Mutex // guards the fields below
	databases map[string]*opening
	closed    bool

	open atomic.Pointer[[]*database] // the open databases, for readers without mu
	own  atomic.Pointer[[]string]    // see ownNames
}

// opening is a database that is open or opening.
type opening struct {
	done chan struct{} // closed when the other fields are set
	db   *database
	err  error
}

var _ volume.Volumes = (*Volumes)(nil)

// Open sends no request and opens no file: the first Database does. The work in the background
// gets the values of ctx, not its cancellation.
func Open(ctx context.Context, c Config) (*Volumes, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	v := &Volumes{
		cfg: c, cache: cache{c.Dir}, revoked: newRevocation(), gate: newGate(), databases: map[string]*opening{},
		hydrating: make(chan struct{}, 1), compacting: make(chan struct{}, 1),
		bodies: newBlobCache(filepath.Join(c.Dir, tempDir, "blobs"), blobCacheSize(c.DiskLimit)), room: newRoom(c),
	}
	v.history.now = c.Now
	v.open.Store(&[]*database{})
	v.background, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	v.early, v.cancelEarly = context.WithCancel(v.background)
	return v, nil
}

// Database opens a database; calls with the same name share it. After ownership was revoked
// its methods return data_fenced, disk_failed or data_broken.
func (v *Volumes) Database(ctx context.Context, name string) (volume.Database, error) {
	if err := branch.CheckDatabase(name); err != nil {
		return nil, err
	}
	db, err := v.database(ctx, name)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// database opens a database once; different ones open concurrently.
func (v *Volumes) database(ctx context.Context, name string) (*database, error) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil, errClosed
	}
	o, known := v.databases[name]
	if !known {
		o = &opening{done: make(chan struct{})}
		v.databases[name] = o
	}
	v.mu.Unlock()
	if !known {
		o.db, o.err = v.openOwned(ctx, name)
		v.opened(name, o)
		close(o.done)
	}
	select {
	case <-o.done:
		return o.db, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (v *Volumes) openOwned(ctx context.Context, name string) (*database, error) {
	if err := v.claim(ctx); err != nil {
		return nil, unavailable(ctx, err)
	}
	db, err := v.openDatabase(ctx, name)
	if err != nil {
		return nil, unavailable(ctx, fmt.Errorf("open database %q: %w", name, err))
	}
	return db, nil
}

// unavailable turns err into an error for users, unless it is one already.
func unavailable(ctx context.Context, err error) error {
	var known *svc.Error
	var damaged *replica.CorruptError
	switch {
	case ctx.Err() != nil, errors.As(err, &known):
		return err
	case errors.As(err, &damaged), errors.Is(err, branch.ErrNotRestorable):
		return svc.Errorf(svc.Internal, svc.CodeDataBroken, "the version's data in the object store is damaged").
			WithHint("read the runtime's log for the object").Because(err)
	}
	return svc.Errorf(svc.Unavailable, svc.CodeDataUnavailable, "open the version's data: the object store or the disk fails").
		WithHint("read the runtime's log for details").Because(err)
}

// opened records an open database; after a failure the next call opens it again.
func (v *Volumes) opened(name string, o *opening) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o.err != nil {
		delete(v.databases, name)
		v.history.broken(name)
		return
	}
	v.history.mended(name)
	open := append(slices.Clone(*v.open.Load()), o.db)
	v.open.Store(&open)
}

// awaitOpening waits for databases that are opening, and returns the open ones.
func (v *Volumes) awaitOpening() []*database {
	v.mu.Lock()
	all := slices.Collect(maps.Values(v.databases))
	v.mu.Unlock()
	for _, o := range all {
		<-o.done
	}
	return *v.open.Load()
}

// claim makes this process the owner of the version's data, once.
func (v *Volumes) claim(ctx context.Context) error {
	v.claiming.Lock()
	defer v.claiming.Unlock()
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
	v.watch.confirmed.Store(v.watch.awake.Load()) // if Acquire takes long, the first call confirms it
	g, err := v.cfg.Branches.Acquire(ctx, v.cfg.Ref, v.cfg.Owner, v.cfg.Parent)
	<-loaded
	switch {
	case err != nil:
		return fmt.Errorf("claim data of %s: %w", v.cfg.Ref, err)
	case loadErr != nil:
		return loadErr
	}
	v.grant, v.manifest = &g, m
	v.beginHistory()
	if v.cfg.Lease > 0 {
		v.work.Go(func() { v.watchOwner(v.background) })
	}
	if v.cfg.Warm != "" && g.New {
		if v.warmReader, err = newWarmReader(v.cfg.Warm); err != nil {
			v.cfg.Logger.InfoContext(ctx, "parent's files are unusable; reading pages from the object store", "reason", err)
		}
	}
	return v.openEarly()
}

// openEarly starts opening the databases that are known to exist, concurrently: each sends
// requests to the object store, and the bindings open them one after another.
func (v *Volumes) openEarly() error {
	names, err := v.cache.databases()
	if err != nil {
		return err
	}
	if v.manifest != nil {
		names = slices.AppendSeq(names, maps.Keys(v.manifest.Databases))
	}
	names = slices.AppendSeq(names, maps.Keys(v.grant.Verified))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v.work.Go(func() {
			_, _ = v.database(v.early, name) // the first user tries again
		})
	}
	return nil
}

// loadManifest loads the manifest of a child.
func (v *Volumes) loadManifest(ctx context.Context) (*branch.Manifest, error) {
	if v.cfg.Parent == "" {
		return nil, nil // a root has no manifest
	}
	m, err := v.cfg.Branches.Load(ctx, v.cfg.Ref)
	if err == nil && m == nil {
		err = fmt.Errorf("load manifest of %s: its data was never forked from %s", v.cfg.Ref, v.cfg.Parent)
	}
	return m, err
}

// revoke stops serving the data: ownership was revoked, or the data or the disk is damaged.
func (v *Volumes) revoke(err error) {
	if !v.revoked.revoke(err) {
		return
	}
	v.cfg.Logger.Error("version's data is no longer served", "error", err)
	if v.cfg.Revoked != nil {
		go v.cfg.Revoked(v.revoked.err)
	}
}

// Behind returns the age of the oldest unshipped write and the error of the last attempt to ship,
// nil if it succeeded. It does not block.
func (v *Volumes) Behind() (age time.Duration, failing error) {
	for _, db := range *v.open.Load() {
		a, err := db.ship.lag()
		age = max(age, a)
		if failing == nil {
			failing = err
		}
	}
	return age, failing
}

// Close waits for running work, ships what the log accepts within closeFlush, merges the WALs into
// the files and closes them. Idempotent.
func (v *Volumes) Close() error {
	v.mu.Lock()
	first := !v.closed
	v.closed = true
	v.mu.Unlock()
	v.cancelEarly()
	dbs := v.awaitOpening()
	if !first {
		v.work.Wait()
		return nil
	}
	for _, db := range dbs {
		db.drain()
	}
	v.flushAll(dbs)
	v.cancel()
	v.work.Wait()
	if v.warmReader != nil {
		v.warmReader.releaseAll()
	}
	var errs []error
	for _, db := range dbs {
		if err := db.close(); err != nil {
			errs = append(errs, fmt.Errorf("close database %q: %w", db.name, err))
		}
	}
	return errors.Join(errs...)
}

// Ship returns when everything committed before the call is in the object store. It sends no
// requests for databases without new commits.
func (v *Volumes) Ship(ctx context.Context) error {
	dbs := *v.open.Load()
	errs := make([]error, len(dbs))
	var all sync.WaitGroup
	for i, db := range dbs {
		all.Go(func() { errs[i] = db.ship.flush(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// flushAll ships the remaining commits of all databases concurrently.
func (v *Volumes) flushAll(dbs []*database) {
	ctx, cancel := context.WithTimeout(v.background, closeFlush)
	defer cancel()
	var all sync.WaitGroup
	for _, db := range dbs {
		all.Go(func() {
			if err := db.ship.flush(ctx); err != nil && v.revoked.check() == nil {
				v.cfg.Logger.Warn("shutdown: unreplicated writes remain in the local cache", "database", db.name, "error", err)
			}
		})
	}
	all.Wait()
}

// drain stops new uses and waits for those in progress.
func (db *database) drain() {
	close(db.done)
	w := <-db.writer
	defer func() { db.writer <- w }()
	for range maxReaders {
		select {
		case <-db.room:
		case c := <-db.idle:
			_ = c.Close() // a reader has nothing to lose
		}
	}
}

// close closes the writer, which merges the WAL into the file, and the file.
func (db *database) close() error {
	w := <-db.writer
	return errors.Join(db.disk.close(), w.Close(), db.file.Detach())
}
