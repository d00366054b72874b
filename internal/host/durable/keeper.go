package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/isolate"
)

// Config says what a Keeper keeps.
type Config struct {
	Dir     string         // of workerd's files; the Keeper owns it
	Version string         // id of the version
	Volumes volume.Volumes // of the version
	Keys    []string       // the classes: unique keys in workerd's config, names of directories
	Deleted []string       // keys of classes whose objects are to be deleted
	Logger  *slog.Logger

	Continues  bool // the alarms of the parent are the version's: a release made it
	HandedOver bool // another version continues the alarms of this one, see placeAlarms
}

func (c *Config) has(key string) bool { return slices.Contains(c.Keys, key) }

// Keeper keeps the objects of one version.
type Keeper struct {
	cfg        Config
	db         volume.Database
	background context.Context //nolint:containedctx // of Close

	making   sync.Mutex      // guards what follows; held while a file is made
	opened   map[string]bool // classes and names of the objects that have a file, or had one that was deleted
	complete bool            // every object has a file
	// The generation of files that do not survive a power failure yet, see settle; "" once they do.
	unsettled string
	later     []string  // files to sync for that
	owner     int       // uid that files are made for; 0 for that of this process
	syncEach  bool      // files that are made are synced one by one
	settling  *settling // the try under way; nil without one

	stop    context.CancelFunc // ends the goroutines; nil before Follow
	stopped chan struct{}
	wake    chan struct{} // holds a token when a file came or went
	syncing sync.WaitGroup

	mu      sync.Mutex                        // held while files are read and rows written
	pause   func() (resume func(), err error) // stops workerd; nil while none runs
	objects map[string]*object

	// see throttle
	lateSince time.Time // the object store seems to be; zero if it does not
	late      bool      // the object store is
	pagesLate int       // pages that objects wrote while it is
	resume    func()    // lets workerd run again, which is stopped until the object store answers; nil otherwise

	touchedMu sync.Mutex // guards what follows
	touched   map[string]bool
	all       bool       // every file may have come or gone
	made      []*object  // whose files were made since the last capture
	events    func()     // reads what the kernel has to say of files; nil where it says nothing
	reading   sync.Mutex // held while it is read
}

// object is one object, or the alarms of one class.
type object struct {
	follower
	class, name string
	unsaved     map[uint32][]byte // pages whose file differs from the rows since it was restored
}

// New makes files and rows agree: files that continue the rows are read, others deleted. What
// is missing then is made by Opening or by MakeAll. No workerd may run on the directory.
func New(ctx context.Context, c Config) (*Keeper, error) {
	k, err := agree(ctx, c)
	if err != nil {
		return nil, err
	}
	return k.placeAlarms(ctx)
}

func agree(ctx context.Context, c Config) (*Keeper, error) {
	k := newKeeper(c)
	k.background = context.WithoutCancel(ctx)
	err := isolate.TakeBack(c.Dir)
	if err != nil {
		return nil, err
	}
	if k.db, err = Open(ctx, c.Volumes); err != nil {
		return nil, err
	}
	generation, err := adopt(ctx, k.db, c)
	switch {
	case err != nil:
		return nil, err
	case !continues(c.Dir, generation):
		return k, k.restart(ctx)
	}
	k.syncEach = true
	if err := errors.Join(k.makeDirs(), k.removeUnfinished()); err != nil {
		return nil, err
	}
	return k, k.scan(ctx)
}

func newKeeper(c Config) *Keeper {
	return &Keeper{cfg: c, wake: make(chan struct{}, 1), opened: map[string]bool{}, objects: map[string]*object{}, touched: map[string]bool{}}
}

// Collect brings what an earlier Keeper's workerd left in c.Dir into the rows. Nothing is
// done without a directory that continues them.
func Collect(ctx context.Context, c Config) error {
	if _, err := os.Stat(filepath.Join(c.Dir, generationFile)); err != nil {
		return nil //nolint:nilerr // there is nothing to collect
	}
	k := newKeeper(c)
	err := isolate.TakeBack(c.Dir)
	if err != nil {
		return err
	}
	if k.db, err = Open(ctx, c.Volumes); err != nil {
		return err
	}
	c.Deleted = nil // New deletes them
	generation, err := adopt(ctx, k.db, c)
	if err != nil || !continues(c.Dir, generation) {
		return err
	}
	return k.scan(ctx)
}

// Dir is where workerd keeps the files.
func (k *Keeper) Dir() string { return k.cfg.Dir }

// Own gives the files, and those that are made later, to the uid of a workerd that is about to start.
func (k *Keeper) Own(uid int) error {
	k.making.Lock()
	defer k.making.Unlock()
	k.owner = uid
	return isolate.Give(k.cfg.Dir, uid)
}

// object is the object of that file.
func (k *Keeper) object(class, name string) *object {
	path := k.path(class, name)
	o := k.objects[path]
	if o == nil {
		o = &object{follower: follower{path: path}, class: class, name: name}
		k.objects[path] = o
	}
	return o
}

// find adds the objects whose files are new.
func (k *Keeper) find() error {
	k.takeMade()
	var errs []error
	classes, err := os.ReadDir(k.cfg.Dir)
	for _, class := range classes {
		if !class.IsDir() {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(k.cfg.Dir, class.Name()))
		errs = append(errs, err)
		for _, e := range entries {
			if name, ok := nameOf(e.Name()); ok {
				k.object(class.Name(), name)
			}
		}
	}
	return errors.Join(append(errs, err)...)
}

// scanned is how many pages scan saves in one transaction, about 16 MiB and one object.
const scanned = 4096

// scan captures every object, after SQLite has recovered those that a killed workerd left
// open. All objects together may be larger than the memory, and a transaction for each takes
// as long as thousands of syncs.
func (k *Keeper) scan(ctx context.Context) error {
	if err := errors.Join(k.readClosed(ctx), k.find()); err != nil {
		return err
	}
	var list []captured
	pages := 0
	for _, o := range k.objects {
		if o.name == base(o.name) { // its file is made last, after those of its facets
			k.opened[family(o.class, o.name)] = true
		}
		if err := o.recover(); err != nil {
			return err
		}
		before := len(list)
		list = k.poll(list, o)
		for _, item := range list[before:] {
			pages += len(item.change.pages)
		}
		if pages < scanned {
			continue
		}
		if err := k.save(ctx, list); err != nil {
			return err
		}
		list, pages = nil, 0
	}
	if err := k.save(ctx, list); err != nil {
		return err
	}
	return k.dropMissing(ctx)
}

// recover merges the log that a killed workerd left into the file. No workerd runs.
func (o *object) recover() error {
	if _, err := os.Stat(o.path + "-wal"); err != nil {
		return nil //nolint:nilerr // there is no log
	}
	o.detach()
	o.forget()
	c, err := raw.Open(o.path, raw.Options{})
	if err == nil {
		err = errors.Join(c.Script("PRAGMA wal_checkpoint(TRUNCATE)"), c.Close())
	}
	if err != nil {
		return fmt.Errorf("recovering %s: %w", o.path, err)
	}
	return nil
}

// dropMissing deletes the rows of facets whose files are gone, though their object has one:
// they were deleted. An object without a file was not opened yet.
func (k *Keeper) dropMissing(ctx context.Context) error {
	var gone []row
	err := k.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlFacets, nil, func(s *raw.Stmt) error {
			r := row{class: s.Text(0), name: s.Text(1)}
			if k.opened[family(r.class, r.name)] && missing(k.path(r.class, r.name)) {
				gone = append(gone, r)
			}
			return nil
		})
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return k.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			for _, r := range gone {
				if err := save(c, r.class, r.name, &change{}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// closeLimit is how long Close may take to store what workerd wrote last.
const closeLimit = 10 * time.Second

// Close stores what workerd wrote last. workerd is gone.
func (k *Keeper) Close() error {
	if k.stop != nil {
		k.stop()
		<-k.stopped
	}
	k.syncing.Wait()
	ctx, cancel := context.WithTimeout(k.background, closeLimit)
	defer cancel()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pause, k.resume = nil, nil
	err := k.save(ctx, k.poll(nil, k.live()...)) // of those that workerd closed, while their files are open here
	k.look(true)
	err = errors.Join(err, k.find())
	for _, o := range k.objects {
		err = errors.Join(err, o.recover())
	}
	_, captureErr := k.capture(ctx)
	err = errors.Join(err, captureErr)
	for _, o := range k.objects {
		o.detach()
	}
	if err == nil {
		err = k.writeClosed(ctx)
	}
	return err
}

// live are the objects that are open.
func (k *Keeper) live() (list []*object) {
	for _, o := range k.objects {
		if o.live() {
			list = append(list, o)
		}
	}
	return list
}
