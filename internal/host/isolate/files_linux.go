package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// given is the mode of a directory whose files were given away. The group has no other member.
const given = 0o750

// Give gives the files in the directories of dir to a uid, which may enter dir and not change it.
func Give(dir string, uid int) error {
	err := os.Chmod(dir, given) // first: it says that TakeBack has to be called
	if err == nil {
		err = os.Chown(dir, -1, uid)
	}
	if err == nil {
		err = inside(dir, func(fd int, s *unix.Stat_t) error {
			if int(s.Uid) != os.Geteuid() {
				return nil // not of the server
			}
			return chown(fd, uid, uid)
		})
	}
	if err != nil {
		return fmt.Errorf("giving files to a uid: %w", err)
	}
	return nil
}

// TakeBack makes files that were given away this process's own again, and those that the uid has
// made. No process has the uid any more. Without Give it does nothing.
func TakeBack(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm() != given {
		return nil
	}
	err = inside(dir, func(fd int, _ *unix.Stat_t) error { return chown(fd, os.Geteuid(), os.Getegid()) })
	if err == nil {
		err = os.Chown(dir, os.Geteuid(), os.Getegid())
	}
	if err == nil {
		err = os.Chmod(dir, 0o700) //nolint:gosec // a directory
	}
	if err != nil {
		return refuse("the files in %s still belong to the user of a workerd: %v", dir, err).
			WithHint("start the server once with SVC_ISOLATION=user and the rights for that")
	}
	return nil
}

func chown(fd, uid, gid int) error {
	return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH)
}

// inside calls do for each directory in dir, and each file in these. The uid may have put there
// what it wants: whatever is not a file with one name is removed. Beside the directories are files of
// the server, which stay.
func inside(dir string, do func(fd int, s *unix.Stat_t) error) error {
	return entries(dir, func(path string, fd int, s *unix.Stat_t) error {
		if s.Mode&unix.S_IFMT != unix.S_IFDIR {
			return nil
		}
		if err := do(fd, s); err != nil {
			return err
		}
		return entries(path, func(path string, fd int, s *unix.Stat_t) error {
			if s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink != 1 {
				return os.RemoveAll(path)
			}
			return do(fd, s)
		})
	})
}

// entries calls do for each entry of dir, open as a path: it stays the same if its name is given to
// another one.
func entries(dir string, do func(path string, fd int, s *unix.Stat_t) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		if err == nil {
			err = entry(int(d.Fd()), filepath.Join(dir, name), do)
		}
	}
	return err
}

func entry(at int, path string, do func(path string, fd int, s *unix.Stat_t) error) error {
	fd, err := unix.Openat(at, filepath.Base(path), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return do(path, fd, &s)
}
