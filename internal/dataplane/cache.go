package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/cowvfs"
)

// cache is the directory of a version's files:
//
//	db/<store>.sqlite   and what the VFS keeps beside it
//	boot                the run of this machine's kernel in which db was written
//	stale-1/ …          files of earlier runs, of the latest last
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
	staleDirs = "stale-"
	suffix    = ".sqlite"
)

func (c cache) path(store string) string { return filepath.Join(c.dir, storesDir, store+suffix) }

// open makes the directory and sets files of an earlier run aside.
func (c cache) open(ctx context.Context) error {
	if err := withdrawAll(ctx, filepath.Join(c.dir, warmDir)); err != nil {
		return err
	}
	if err := c.clearTemp(); err != nil {
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

func (c cache) temp() string { return filepath.Join(c.dir, tempDir) }

func (c cache) clearTemp() error {
	return errors.Join(os.RemoveAll(c.temp()), os.MkdirAll(c.temp(), 0o700))
}

// setAside makes db the latest of what is stale. What was before stays: it may be
// the only copy of a store that was not opened since.
func (c cache) setAside() error {
	db := filepath.Join(c.dir, storesDir)
	err := os.Remove(db) // of which nothing was opened
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(c.dir, 0o700)
	}
	stale, err := c.stale()
	if err != nil {
		return err
	}
	last := 0
	if n := len(stale); n > 0 {
		if last, err = strconv.Atoi(strings.TrimPrefix(filepath.Base(stale[n-1]), staleDirs)); err != nil {
			return err
		}
	}
	return os.Rename(db, filepath.Join(c.dir, staleDirs+strconv.Itoa(last+1)))
}

// stale gives the directories of earlier runs, the latest last.
func (c cache) stale() ([]string, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), staleDirs) {
			dirs = append(dirs, filepath.Join(c.dir, e.Name()))
		}
	}
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // as numbers
	})
	return dirs, nil
}

// restoreOnly brings the latest stale file of a store back if it is the only
// copy, and else drops it, as those before it. Only the database and its WAL
// count: SQLite wrote them so that they survive a power failure.
func (c cache) restoreOnly(store string, onlyCopy bool) error {
	_, missing := os.Lstat(c.path(store))
	wanted := onlyCopy && missing != nil
	stale, err := c.stale()
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(stale) {
		old := filepath.Join(dir, store+suffix)
		if _, lost := os.Lstat(old); wanted && lost == nil {
			if err := bringBack(old, c.path(store)); err != nil {
				return fmt.Errorf("bringing a file back: %w", err)
			}
			wanted = false
		}
		if err := cowvfs.Remove(old); err != nil {
			return fmt.Errorf("dropping a stale file: %w", err)
		}
		_ = os.Remove(dir) // unless another store has files there
	}
	return nil
}

func bringBack(from, to string) error {
	for _, end := range []string{"-wal", ""} {
		if err := os.Rename(from+end, to+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stores names the files that are here, those set aside too.
func (c cache) stores() ([]string, error) {
	dirs, err := c.stale()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, dir := range append(dirs, filepath.Join(c.dir, storesDir)) {
		entries, err := os.ReadDir(dir)
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
