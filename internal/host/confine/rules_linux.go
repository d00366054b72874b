//go:build amd64 || arm64

package confine

import "golang.org/x/sys/unix"

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// typeOfSocket are the bits of the second argument of socket without its flags.
const typeOfSocket = 0xf

// rules are those of all system calls that are not simply allowed. clone3 answers ENOSYS, because a
// filter cannot read its flags: the C library then uses clone.
func rules() []rule {
	yes := []unix.SockFilter{allow}
	self := match(atArg(0), deny, rule{0, yes}) // a process id of 0 is the caller, and no other is known here
	stream := []unix.SockFilter{load(atArg(1)), and(typeOfSocket), jump(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 1), allow, deny}
	internet := match(atArg(2), deny, rule{0, yes}, rule{unix.IPPROTO_TCP, yes}, rule{unix.IPPROTO_UDP, yes})
	list := []rule{
		{unix.SYS_CLONE3, []unix.SockFilter{answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))}},
		{unix.SYS_CLONE, []unix.SockFilter{load(atArg(0)), jump(unix.BPF_JSET, newNamespaces, 0, 1), deny, allow}},
		// A limit of CPU time ends another process of the same user without a signal.
		{unix.SYS_PRLIMIT64, self},
		// The allocator pins its own threads to a processor.
		{unix.SYS_SCHED_SETAFFINITY, self},
		// getaddrinfo asks for the addresses of the machine by netlink (NETLINK_ROUTE). Other
		// protocols list the sockets of all processes.
		{unix.SYS_SOCKET, match(atArg(0), deny,
			rule{unix.AF_UNIX, stream}, rule{unix.AF_INET, internet}, rule{unix.AF_INET6, internet},
			rule{unix.AF_NETLINK, match(atArg(2), deny, rule{unix.NETLINK_ROUTE, yes})})},
		{unix.SYS_SOCKETPAIR, match(atArg(0), deny, rule{unix.AF_UNIX, yes})},
	}
	for _, calls := range [][]uint32{refused, refusedHere} {
		for _, call := range calls {
			list = append(list, rule{call, []unix.SockFilter{deny}})
		}
	}
	return list
}

// refused are system calls that no worker needs and that break-outs use.
//
//nolint:gochecknoglobals // a constant table
var refused = []uint32{
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_KCMP,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, // a program sends itself signals by tgkill
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_PERSONALITY,
	unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	unix.SYS_SETPGID, unix.SYS_SETSID, // a child ends with the process group of the worker host
	// Files: Landlock has no rights for these calls, nor for the names that a watch tells.
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_TRUNCATE, unix.SYS_FILE_SETATTR,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_LOOKUP_DCOOKIE,
	// Programs that are in no file.
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_EXECVEAT,
	// Memory, messages and locks of other processes, which have numbers for names.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// The machine, and parts of the kernel with a history of errors.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}
