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

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/lib/boot"
)

// cache is the directory of a version's files:
//
//	db/<database>.sqlite   and the VFS's files beside it
//	boot                   the boot of this machine in which db was written
//	stale-1/ …             files of earlier boots, the latest has the highest number
//	warm/                  offers to children, see warm
//	tmp/                   see Temp
//
// Data that the kernel had not written when the machine went down is lost, so files of an
// earlier boot may lack transactions of the log, or differ from it: they are used only where
// the log is empty and they are the only copy.
type cache struct{ dir string }

const (
	bootName     = "boot"
	databasesDir = "db"
	staleDirs    = "stale-"
	suffix       = ".sqlite"
)

func (c cache) path(name string) string { return filepath.Join(c.dir, databasesDir, name+suffix) }

// open creates the directory and moves files of an earlier boot away.
func (c cache) open(ctx context.Context) error {
	if err := removeOffers(ctx, filepath.Join(c.dir, warmDir)); err != nil {
		return err
	}
	if err := c.clearTemp(); err != nil {
		return fmt.Errorf("delete temporary files: %w", err)
	}
	current, err := boot.ID()
	if err != nil {
		return fmt.Errorf("read boot id: %w", err)
	}
	mark, err := os.ReadFile(filepath.Join(c.dir, bootName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read boot id of the cache: %w", err)
	}
	if string(mark) == current {
		return os.MkdirAll(filepath.Join(c.dir, databasesDir), 0o700)
	}
	if err := c.moveToStale(); err != nil {
		return fmt.Errorf("move files of an earlier boot away: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(c.dir, databasesDir), 0o700); err != nil {
		return fmt.Errorf("create cache: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, bootName), []byte(current), 0o600); err != nil {
		return fmt.Errorf("write boot id of the cache: %w", err)
	}
	return nil
}

func (c cache) temp() string { return filepath.Join(c.dir, tempDir) }

func (c cache) clearTemp() error {
	return errors.Join(os.RemoveAll(c.temp()), os.MkdirAll(c.temp(), 0o700))
}

// moveToStale makes db the latest stale directory. Earlier ones stay: they may have the only
// copy of a database that was not opened since.
func (c cache) moveToStale() error {
	db := filepath.Join(c.dir, databasesDir)
	err := os.Remove(db) // succeeds when it is empty
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

// stale lists the directories of earlier boots, the latest last.
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

// restoreOnlyCopy restores the latest stale file of a database if it is the only copy, and
// deletes all others. Only the database and its WAL are restored: SQLite wrote them so that
// they survive a power failure.
func (c cache) restoreOnlyCopy(name string, onlyCopy bool) error {
	_, missing := os.Lstat(c.path(name))
	wanted := onlyCopy && missing != nil
	stale, err := c.stale()
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(stale) {
		old := filepath.Join(dir, name+suffix)
		if _, lost := os.Lstat(old); wanted && lost == nil {
			if err := moveFile(old, c.path(name)); err != nil {
				return fmt.Errorf("restore stale file: %w", err)
			}
			wanted = false
		}
		if err := cowvfs.Remove(old); err != nil {
			return fmt.Errorf("delete stale file: %w", err)
		}
		_ = os.Remove(old + unclaimedMark) // if there is one
		_ = os.Remove(dir)                 // unless another database has files there
	}
	return nil
}

func moveFile(from, to string) error {
	for _, end := range []string{"-wal", ""} {
		if err := os.Rename(from+end, to+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// databases lists the databases with local files, including stale ones.
func (c cache) databases() ([]string, error) {
	dirs, err := c.stale()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, dir := range append(dirs, filepath.Join(c.dir, databasesDir)) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read cache: %w", err)
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), suffix); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
