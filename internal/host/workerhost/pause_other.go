//go:build !linux

package workerhost

import "syscall"

// pause stops workerd until resume is called. Its threads may stop a moment after the call.
func (w *worker) pause() (resume func(), err error) {
	_ = w.cmd.Process.Signal(syscall.SIGSTOP) // one that is gone is as good as stopped
	return func() { _ = w.cmd.Process.Signal(syscall.SIGCONT) }, nil
}
