//go:build !linux

package workerhost

import "syscall"

// sysProcAttr has nothing to add here: the supervisor kills the host's process
// group, and a host whose daemon is gone kills workerd.
func sysProcAttr() *syscall.SysProcAttr { return nil }
