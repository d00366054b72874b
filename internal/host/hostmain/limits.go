package hostmain

import "syscall"

// raiseFileLimit raises the soft limit of open files to the hard limit, for this
// process and for workerd, which inherits it and exits when it reaches it. Without
// this call a child gets the soft limit that the daemon was started with, often
// 1,024. An error leaves the limit unchanged.
func raiseFileLimit() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
