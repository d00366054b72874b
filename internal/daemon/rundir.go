package daemon

import (
	"errors"
	"fmt"
	"os"
)

// runDirRoom is how long the directory of sockets may be: a socket's path has
// 108 bytes at most, and what remains is for the names in it.
const runDirRoom = 60

// runDir makes the private directory of unix sockets; remove ends it. A deep
// data directory gets one under the system's temporary directory, and a link to
// it, by which the next daemon finds and removes that of one that was killed.
func (d *dataDir) runDir(temporary string) (dir string, remove func() error, err error) {
	path := d.sub("run")
	remove = func() error { return removeLinked(path) }
	err = remove()
	switch {
	case err != nil:
	case len(path) <= runDirRoom:
		dir, err = path, os.Mkdir(path, 0o700)
	default:
		dir, err = linkedDir(path, temporary)
	}
	if err != nil {
		return "", nil, fmt.Errorf("runtime directory: %w", err)
	}
	return dir, remove, nil
}

// linkedDir makes a directory under temporary to which link leads.
func linkedDir(link, temporary string) (string, error) {
	dir, err := os.MkdirTemp(temporary, "svcd-")
	if err != nil {
		return "", err
	}
	if err := os.Symlink(dir, link); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// removeLinked removes a directory, or a link and the directory it leads to.
func removeLinked(path string) error {
	if dir, err := os.Readlink(path); err == nil {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}
