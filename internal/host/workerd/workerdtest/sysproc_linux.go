package workerdtest

import "syscall"

// sysProcAttr has the kernel kill the child when the thread that started it ends. Go ends a thread
// only if a goroutine that is locked to it returns, which tests do not do.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
