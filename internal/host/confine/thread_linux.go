package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Supported reports whether the kernel can confine programs to files (Landlock).
func Supported() bool { return landlockVersion() > 0 }

// Thread confines the calling thread, which must be locked to its goroutine and end with it,
// for ever. What the kernel does not support is missing in the Report; an error is another
// failure, after which the thread may be confined in part.
func Thread(p Profile) (r Report, err error) {
	checkOnce()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return r, fmt.Errorf("setting no_new_privs: %w", err)
	}
	root := os.Geteuid() == 0
	if err := dropCapabilities(root); err != nil {
		return r, fmt.Errorf("dropping capabilities: %w", err)
	}
	if r.Files, err = restrictFiles(p, root); err != nil {
		return r, fmt.Errorf("restricting files: %w", err)
	}
	if r.SystemCalls, err = restrictCalls(); err != nil {
		return r, fmt.Errorf("restricting system calls: %w", err)
	}
	runtime.KeepAlive(p)
	return r, nil
}

// Privileges takes all capabilities, and the way to get new ones, from programs that the calling
// thread starts with another uid. The thread itself keeps those to change to that uid. See Thread.
func Privileges() error {
	checkOnce()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := dropCapabilities(false); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

// checkOnce has package os find out whether process descriptors work. It does so once, and finds
// that they do not if the first thread that asks is confined.
func checkOnce() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
}

// Limit sets resource limits of a process that has started: no core dump, which would hold
// the variables of a version, and no POSIX message queues. A confined thread cannot call it.
func Limit(pid int) error {
	none := unix.Rlimit{}
	return errors.Join(unix.Prlimit(pid, unix.RLIMIT_CORE, &none, nil), unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, &none, nil))
}

// dropCapabilities leaves none to a program that the thread executes, with one exception:
// root enters and reads directories of other users, since a data directory may be below one.
// Landlock and seccomp bound what that is good for.
func dropCapabilities(root bool) error {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // kernels before 4.3 have none
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &data[0]); err != nil {
		return err
	}
	for i := uintptr(0); ; i++ {
		if root && i == unix.CAP_DAC_READ_SEARCH && Supported() {
			continue
		}
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, i, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // after the last one
			return nil
		case errors.Is(err, unix.EPERM): // this process has none to give
			return nil
		case err != nil:
			return err
		}
	}
}
