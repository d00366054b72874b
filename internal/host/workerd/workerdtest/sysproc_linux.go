package workerdtest

import "syscall"

// sysProcAttr has the kernel kill the child when the thread that started it ends. Go ends a thread
// if a goroutine that is locked to it returns: tests with such goroutines must not use Command.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
