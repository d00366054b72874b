package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Named is a file whose path a person chose, while it is written. A plain file gets its new content
// when Commit is called, and keeps its mode. Everything else that a path may lead to, such as a
// pipe or a device, is written to in place: a rename would put a plain file in its place.
type Named struct {
	f       *os.File
	replace string // path that f is renamed to; "" if f is the file itself
}

// Create opens the file at path, through links. perm is for a file that does not exist, less
// the umask. A pipe is opened when it has a reader. The caller ends with Commit or Abort.
func Create(path string, perm os.FileMode) (*Named, error) {
	target := Target(path)
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return besides(target, perm, nil)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return inPlace(target, os.O_WRONLY)
	}
	return besides(target, info.Mode().Perm(), info)
}

// Target is the path that path leads to through links. Its last element need not exist.
func Target(path string) string {
	const mostLinks = 40 // as Linux
	at := path
	for range mostLinks {
		next, err := os.Readlink(at)
		if err != nil {
			return at
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(at), next)
		}
		at = next
	}
	return path // a loop: opening it is the error
}

func inPlace(path string, flags int) (*Named, error) {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	return &Named{f: f}, nil
}

// besides opens a file in the directory of target, to be renamed. old is the file that exists; nil
// for none. Without the right to create files there, the old one is written to.
func besides(target string, perm os.FileMode, old os.FileInfo) (*Named, error) {
	name := filepath.Join(filepath.Dir(target), ".svcctl-"+rand.Text())
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil && old != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return inPlace(target, os.O_WRONLY|os.O_TRUNC)
	}
	if err != nil {
		return nil, err
	}
	n := &Named{f, target}
	if old == nil {
		return n, nil
	}
	if at, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(at.Uid), int(at.Gid)) // only root can; others own what they write
	}
	if err := f.Chmod(perm); err != nil { // the umask may have taken a part of it
		n.Abort()
		return nil, err
	}
	return n, nil
}

// Write implements io.Writer.
func (n *Named) Write(p []byte) (int, error) { return n.f.Write(p) }

// Commit ends the writing; the file has its new content on disk.
func (n *Named) Commit() error {
	if n.replace == "" {
		return n.f.Close()
	}
	err := n.f.Sync()
	if err = errors.Join(err, n.f.Close()); err == nil {
		err = os.Rename(n.f.Name(), n.replace)
	}
	if errors.Is(err, syscall.EBUSY) { // a file that is mounted by itself, as in containers
		err = n.copyOver()
	}
	if err != nil {
		return errors.Join(err, os.Remove(n.f.Name()))
	}
	return SyncDir(filepath.Dir(n.replace))
}

// copyOver writes the content to the file itself.
func (n *Named) copyOver() error {
	data, err := os.ReadFile(n.f.Name())
	if err == nil {
		err = os.WriteFile(n.replace, data, 0) //nolint:gosec // it exists, and a person named it
	}
	if err != nil {
		return fmt.Errorf("write %s in place: %w", n.replace, err)
	}
	return os.Remove(n.f.Name())
}

// Abort ends the writing. A plain file keeps its old content.
func (n *Named) Abort() {
	_ = n.f.Close()
	if n.replace != "" {
		_ = os.Remove(n.f.Name()) // at worst it stays
	}
}
