package atomicfile

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// WriteFile replaces the file at path by data, with the permissions perm less the
// umask. When it returns nil, the content and the name are on disk. Concurrent calls
// for one path are safe: one of them wins.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	if err := renameio.WriteFile(path, data, perm); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Replace is WriteFile without a wait for the disk: after a power failure the file may have
// the old content, the new one, or none. Calls for one path must not be concurrent.
func Replace(path string, data []byte, perm os.FileMode) error {
	if err := os.WriteFile(path+".tmp", data, perm); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// SyncDir writes the entries of a directory to disk: the names of files that were
// created, renamed or removed in it.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
