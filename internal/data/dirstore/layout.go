package dirstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The files that are not objects. Staging is in the same directory, so that a
// staged object can be linked to its key.
const (
	private  = ".dirstore"
	staging  = private + "/new"
	lockName = private + "/lock"
	staleAge = time.Hour
)

func isKey(key string) bool {
	first, _, _ := strings.Cut(key, "/")
	return fs.ValidPath(key) && key != "." && first != private
}

func checkKey(key string) error {
	if !isKey(key) {
		return fmt.Errorf("invalid key %q: want a path without empty and dotted parts, outside %s", key, private)
	}
	return nil
}

func openRoot(dir string) (*os.Root, error) {
	for _, d := range []string{dir, filepath.Join(dir, filepath.FromSlash(staging))} {
		if err := makeDir(d); err != nil {
			return nil, err
		}
	}
	return os.OpenRoot(dir)
}

// makeDir creates dir and its missing parents, and makes its name durable, because
// another process may have created it without syncing yet. The names above it are
// durable.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeDir(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if errors.Is(err, fs.ErrPermission) {
		return nil // then no process of this program has created it
	}
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// sweep deletes staged objects of writers that crashed. A writer slower than
// staleAge fails; it damages nothing.
func sweep(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), staging)
	if err != nil {
		return err
	}
	for _, e := range entries {
		st, err := e.Info()
		if err == nil && time.Since(st.ModTime()) > staleAge {
			err = root.Remove(path.Join(staging, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncFolders makes the names in a folder durable, and those of the folders above it:
// another process may have created them without syncing yet.
func (b *Bucket) syncFolders(folder string) error {
	for ; ; folder = path.Dir(folder) {
		f, err := b.root.Open(folder)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed with its last object
			return err
		}
		if folder == "." {
			return nil
		}
	}
}
