package confine

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_X86_64

// refusedHere are the calls of refused that only this machine has, most of them by older names.
//
//nolint:gochecknoglobals // a constant table
var refusedHere = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_INOTIFY_INIT,
	unix.SYS_MODIFY_LDT, unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_USELIB,
}
