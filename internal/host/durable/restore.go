package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/lib/boot"
)

// generationFile is in the directory: its files continue the rows of that generation.
const generationFile = "generation"

// restart deletes all files, which are of an earlier owner of the rows, and begins a generation
// of files that continues the rows.
func (k *Keeper) restart(ctx context.Context) error {
	if err := os.RemoveAll(k.cfg.Dir); err != nil {
		return err
	}
	if err := k.makeDirs(); err != nil {
		return err
	}
	return k.begin(ctx)
}

// makeDirs makes the directory of each class.
func (k *Keeper) makeDirs() error {
	for _, key := range k.cfg.Keys {
		if err := os.MkdirAll(filepath.Join(k.cfg.Dir, key), 0o700); err != nil {
			return err
		}
	}
	return os.MkdirAll(k.cfg.Dir, 0o700)
}

// begin gives the files a generation of their own, in the rows first: files without the
// generation of the rows are never believed. Files that are not synced yet are believed only
// until the machine goes down.
func (k *Keeper) begin(ctx context.Context) error {
	current, err := boot.ID()
	if err != nil {
		return err
	}
	k.unsynced = rand.Text()
	err = k.db.Write(ctx, func(c *raw.Conn) error { return c.Exec(`UPDATE durable_meta SET generation = ?1`, k.unsynced) })
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.cfg.Dir, generationFile), []byte(k.unsynced+" "+current), 0o600)
}

// syncFiles syncs what was made before workerd served. It may take seconds on a busy disk, so
// the worker does not wait for it. Files that are made later are synced one by one.
func (k *Keeper) syncFiles() {
	k.making.Lock()
	generation, files := k.unsynced, k.later
	k.unsynced, k.later = "", nil
	k.making.Unlock()
	if generation == "" {
		return
	}
	err := k.syncDirs()
	if len(files) > manyFiles {
		err = errors.Join(err, k.syncAll())
	} else {
		for _, path := range files {
			err = errors.Join(err, syncFile(path))
		}
	}
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(k.cfg.Dir, generationFile), []byte(generation), 0o600)
	}
	if err != nil {
		k.cfg.Logger.Warn("cannot sync the files of durable objects; after a power failure they are made from the object store", "error", err)
	}
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

// continues reports whether the files continue the rows of that generation.
func continues(dir, generation string) bool {
	text, err := os.ReadFile(filepath.Join(dir, generationFile))
	mark, since, unsynced := strings.Cut(string(text), " ")
	if err != nil || generation == "" || mark != generation {
		return false
	}
	current, err := boot.ID()
	return !unsynced || err == nil && since == current
}
