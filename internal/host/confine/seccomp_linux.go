package confine

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are system calls that no worker needs and that break-outs use: of debuggers,
// mounts, namespaces, kernel modules, keys, clocks, and io_uring.
//
//nolint:gochecknoglobals // a constant table
var refused = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_QUOTACTL,
	unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
}

// The offsets in the data that a filter reads, on machines of little endian.
const (
	atCall = 0
	atArch = 4
	atArg0 = 16 // its lower half
)

const (
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	otherABI      = 0x40000000 // the first system call of x32, which no filter by numbers sees
)

// filter is the program for seccomp. It answers clone3 with ENOSYS, whose flags a filter
// cannot read: the C library then uses clone.
func filter() []unix.SockFilter {
	deny, allow := answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)), answer(unix.SECCOMP_RET_ALLOW)
	program := []unix.SockFilter{
		load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), deny,
		load(atCall), jump(unix.BPF_JGE, otherABI, 0, 1), deny,
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(atArg0), jump(unix.BPF_JSET, newNamespaces, 0, 1), deny, allow,
	}
	for _, call := range refused {
		program = append(program, jump(unix.BPF_JEQ, call, 0, 1), deny)
	}
	return append(program, allow)
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

// jump skips yes or no instructions, by a test of what was loaded.
func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | test, K: k, Jt: yes, Jf: no}
}

func answer(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }

// restrictCalls applies the filter, unless the kernel has none.
func restrictCalls() (bool, error) {
	if arch == 0 {
		return false, nil
	}
	list := filter()
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}                                       //nolint:gosec // some dozens
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0) //nolint:gosec // the kernel reads program during the call
	if errors.Is(err, unix.EINVAL) {                                                                          // a kernel without it
		return false, nil
	}
	return err == nil, err
}
