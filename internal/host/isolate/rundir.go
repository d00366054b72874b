package isolate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	dirPrefix = "v-"
	dirLock   = "lock"
	// dirAge is how old a directory is that is removed when its lock is free: one that is being made has
	// none yet.
	dirAge = time.Minute
)

// MakeDir makes a directory for the directories of sockets of one server. Every user may pass through
// it. remove removes it. Directories of servers that have ended are removed, too.
func MakeDir(base string) (dir string, remove func() error, err error) {
	if err := makeBase(base); err != nil {
		return "", nil, err
	}
	clearDirs(base)
	if dir, err = os.MkdirTemp(base, dirPrefix); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(dir, dirLock), flock.SetPermissions(0o600))
	remove = func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }
	free, err := lock.TryLock()
	if err == nil && !free {
		err = fmt.Errorf("another process has locked %s", dir)
	}
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // as above
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// makeBase makes Base, whatever the umask is.
func makeBase(base string) error {
	err := os.MkdirAll(base, 0o711) //nolint:gosec // to be passed through
	if err == nil {
		err = os.Chmod(base, 0o711) //nolint:gosec // as above
	}
	return err
}

// clearDirs removes the directories of servers that were killed. One that cannot be removed
// does no harm.
func clearDirs(base string) {
	list, _ := os.ReadDir(base)
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) || time.Since(info.ModTime()) < dirAge {
			continue
		}
		lock := flock.New(filepath.Join(base, e.Name(), dirLock), flock.SetPermissions(0o600))
		if free, err := lock.TryLock(); err == nil && free {
			_ = os.RemoveAll(filepath.Join(base, e.Name()))
		}
		_ = lock.Close()
	}
}
