package daemon

import (
	"errors"
	"fmt"
	"os"
)

// runDirRoom is the maximum length of the directory of sockets: the path of a socket has at most
// 103 bytes, with "/v/0123456789abcdef/hyperdrive-99.sock" below the directory.
const runDirRoom = 60

// runDir creates the private directory of unix sockets; remove deletes it. If the data
// directory has a long path, the directory is created under the temporary directory,
// with a link to it, by which the next daemon deletes the directory of a killed one.
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

// linkedDir creates a directory under temporary and a link to it.
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

// removeLinked removes a directory, or a link and its target.
func removeLinked(path string) error {
	if dir, err := os.Readlink(path); err == nil {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}
