package durable

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// settleLimit is the time limit for one try to settle.
const settleLimit = 5 * time.Second

// settling is one try to make the files survive a power failure.
type settling struct {
	done chan struct{} // closed when err is set
	err  error
}

// settle makes the files survive a power failure, which takes what is not synced here and the rows
// that are not in the object store: it syncs what was made so far and brings the generation there.
// Both may take seconds, so a worker starts meanwhile, but opens no object: what an object has
// acknowledged is never in files that are not believed. Nothing is done once it has succeeded.
func (k *Keeper) settle(ctx context.Context) error {
	k.making.Lock()
	if k.unsettled == "" {
		k.making.Unlock()
		return nil
	}
	s := k.settling
	if s == nil {
		s = &settling{done: make(chan struct{})}
		k.settling, k.syncEach = s, true
		generation, files := k.unsettled, k.later
		k.syncing.Go(func() { k.try(s, generation, files) }) //nolint:contextcheck // it is for all callers
	}
	k.making.Unlock()
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// try settles once.
func (k *Keeper) try(s *settling, generation string, files []string) {
	ctx, cancel := context.WithTimeout(k.background, settleLimit)
	defer cancel()
	shipped := make(chan error, 1)
	go func() { shipped <- k.db.Ship(ctx) }()
	s.err = errors.Join(k.syncMade(files), <-shipped)
	if s.err == nil {
		s.err = atomicfile.WriteFile(filepath.Join(k.cfg.Dir, generationFile), []byte(generation), 0o600)
	}
	k.making.Lock()
	defer k.making.Unlock()
	k.settling = nil
	if s.err == nil {
		k.unsettled, k.later = "", nil
	}
	close(s.done)
}

// syncMade syncs what was made before files were synced one by one.
func (k *Keeper) syncMade(files []string) error {
	if len(files) > manyFiles {
		return errors.Join(k.syncDirs(), k.syncAll())
	}
	err := k.syncDirs()
	for _, path := range files {
		err = errors.Join(err, syncFile(path))
	}
	return err
}

// manyFiles is the number of files from which on one sync of the whole file system is faster
// than one for each of them.
const manyFiles = 64

func (k *Keeper) syncDirs() error {
	var errs []error
	for _, key := range k.cfg.Keys {
		errs = append(errs, atomicfile.SyncDir(filepath.Join(k.cfg.Dir, key)))
	}
	return errors.Join(append(errs, atomicfile.SyncDir(k.cfg.Dir))...)
}

// syncFile syncs a file, unless it is deleted.
func syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
