package dataplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/cowvfs"
)

// cache is the directory of a version's files:
//
//	db/<store>.sqlite   and what the VFS keeps beside it
//	boot                the run of this machine's kernel in which db was written
//	stale/              files of an earlier run
//	warm/               offers to children, see warm
//	tmp/                see Temp
//
// What the kernel had not written when the machine went down is lost, so files
// of an earlier run may lack what the log has, or differ from it: they are used
// only where the log is empty and they are all there is.
type cache struct{ dir string }

const (
	bootName  = "boot"
	storesDir = "db"
	staleDir  = "stale"
	suffix    = ".sqlite"
)

func (c cache) path(store string) string { return filepath.Join(c.dir, storesDir, store+suffix) }

// open makes the directory and sets files of an earlier run aside.
func (c cache) open(ctx context.Context) error {
	if err := withdrawAll(ctx, filepath.Join(c.dir, warmDir)); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, tempDir)); err != nil {
		return fmt.Errorf("removing temporary files: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return fmt.Errorf("asking which run of the system this is: %w", err)
	}
	mark, err := os.ReadFile(filepath.Join(c.dir, bootName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the cache's mark: %w", err)
	}
	if string(mark) == boot {
		return os.MkdirAll(filepath.Join(c.dir, storesDir), 0o700)
	}
	if err := c.setAside(); err != nil {
		return fmt.Errorf("setting files of an earlier run aside: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(c.dir, storesDir), 0o700); err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, bootName), []byte(boot), 0o600); err != nil {
		return fmt.Errorf("marking the cache: %w", err)
	}
	return nil
}

// setAside moves db to stale. A stale that is there already is from a start that
// was cut off, or from one in which its files were of no use.
func (c cache) setAside() error {
	db, stale := filepath.Join(c.dir, storesDir), filepath.Join(c.dir, staleDir)
	if _, err := os.Lstat(db); errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(c.dir, 0o700)
	}
	if err := os.RemoveAll(stale); err != nil {
		return err
	}
	return os.Rename(db, stale)
}

// restoreOnly brings the file of a store back from stale if it is the only copy,
// and else drops it. Only the database and its WAL count: SQLite wrote them so
// that they survive a power failure.
func (c cache) restoreOnly(store string, onlyCopy bool) error {
	old := filepath.Join(c.dir, staleDir, store+suffix)
	if _, err := os.Lstat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if onlyCopy {
		for _, end := range []string{"-wal", ""} {
			if err := os.Rename(old+end, c.path(store)+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("bringing a file back: %w", err)
			}
		}
	}
	if err := cowvfs.Remove(old); err != nil {
		return fmt.Errorf("dropping a stale file: %w", err)
	}
	return nil
}

// stores names the files that are here, those set aside too.
func (c cache) stores() ([]string, error) {
	var names []string
	for _, dir := range []string{storesDir, staleDir} {
		entries, err := os.ReadDir(filepath.Join(c.dir, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the cache: %w", err)
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), suffix); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
