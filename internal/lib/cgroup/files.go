package cgroup

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// files is the kernel's file system of control groups.
type files interface {
	read(path string) (string, error)
	write(path, text string) error // to a file that is there
	mkdir(path string) error
	remove(dir string) error
	list(dir string) ([]string, error)  // the groups in dir
	lock(dir string) (io.Closer, error) // fails if another process has the lock
	delegated(dir string) bool          // as systemd marks it
	root() bool                         // this process may write everywhere
	kill(pid int)
}

// system is the real one.
type system struct{}

func (system) read(path string) (string, error) {
	text, err := os.ReadFile(path)
	return string(text), err
}

func (system) write(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text) // the kernel takes it in one write
	return err
}

func (system) mkdir(path string) error { return os.Mkdir(path, 0o755) } //nolint:gosec // as all groups; monitoring reads them
func (system) remove(dir string) error { return unix.Rmdir(dir) }

func (system) list(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (system) lock(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (system) delegated(dir string) bool {
	value := make([]byte, 8)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

func (system) root() bool   { return os.Geteuid() == 0 }
func (system) kill(pid int) { _ = unix.Kill(pid, unix.SIGKILL) } // it may have ended
