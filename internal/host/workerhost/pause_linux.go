package workerhost

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pause stops every thread of workerd until resume is called. A workerd that is gone is as
// good as stopped.
func (w *worker) pause() (resume func(), err error) {
	resume = func() { _ = w.cmd.Process.Signal(syscall.SIGCONT) } // one that is gone needs none
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return func() {}, nil //nolint:nilerr // it is gone
	}
	for {
		err = unix.Waitid(unix.P_PID, w.pid(), nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil && err != unix.ECHILD {
		resume()
		return nil, fmt.Errorf("stopping workerd: %w", os.NewSyscallError("waitid", err))
	}
	return resume, nil
}
