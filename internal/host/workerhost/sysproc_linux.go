package workerhost

import "syscall"

// sysProcAttr has the kernel kill workerd when the host dies, however it dies.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
