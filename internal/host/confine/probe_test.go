//go:build linux

package confine_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuLimit is the limit of CPU time, in seconds, that the probe sets. It is no harm to the test.
const cpuLimit = 1 << 20

// probe tries what a confined program may do and may not do, and says the results.
func probe(_ context.Context, args []string) error {
	p := prober{read: args[0], write: args[1], other: args[2]}
	p.victim, _ = strconv.Atoi(args[3])
	p.self()
	p.files()
	p.modes()
	p.processes()
	p.sockets()
	p.rest()
	return nil
}

type prober struct {
	read, write, other string
	victim             int
}

func (prober) say(what string, err error) {
	if errno, is := errors.AsType[syscall.Errno](err); is {
		fmt.Fprintln(os.Stdout, what, unix.ErrnoName(errno))
		return
	}
	fmt.Fprintln(os.Stdout, what, err)
}

// text is memory for system calls that does not move.
var text [512]byte

// call makes a system call by its number.
func (p prober) call(what string, number uintptr, args ...uintptr) {
	args = append(args, make([]uintptr, 6)...)
	_, _, errno := syscall.RawSyscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
	if errno != 0 {
		p.say(what, errno)
		return
	}
	p.say(what, nil)
}

func (p prober) self() {
	for what, option := range map[string]int{"no-new-privs": unix.PR_GET_NO_NEW_PRIVS, "seccomp": unix.PR_GET_SECCOMP} {
		n, _ := unix.PrctlRetInt(option, 0, 0, 0, 0)
		fmt.Fprintln(os.Stdout, what, n)
	}
	var data [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0])
	p.say("capabilities", err)
	fmt.Fprintf(os.Stdout, "effective %x%08x\npermitted %x%08x\n", data[1].Effective, data[0].Effective, data[1].Permitted, data[0].Permitted)
	var limit unix.Rlimit
	p.say("own-limit", unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &limit))
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set) // the next call fails if this one did
	p.say("own-affinity", unix.SchedSetaffinity(0, &set))
}

func (p prober) files() {
	open := func(what, path string, flags int) {
		f, err := os.OpenFile(path, flags, 0o600)
		p.say(what, err)
		if err == nil {
			_ = f.Close()
		}
	}
	open("read", filepath.Join(p.read, "file"), os.O_RDONLY)
	open("change-readable", filepath.Join(p.read, "new"), os.O_RDWR|os.O_CREATE)
	open("write", filepath.Join(p.write, "new"), os.O_RDWR|os.O_CREATE)
	open("read-other", filepath.Join(p.other, "file"), os.O_RDONLY)
	open("list", p.other, os.O_RDONLY)
	open("read-shadow", "/etc/shadow", os.O_RDONLY)
	open("read-keys", "/etc/ssl/private", os.O_RDONLY)
	open("read-certificates", "/etc/ssl/certs", os.O_RDONLY)
	open("cpuinfo", "/proc/cpuinfo", os.O_RDONLY)
	open("proc", "/proc", os.O_RDONLY)
	open("proc-net", "/proc/net/unix", os.O_RDONLY)
	open("proc-self", "/proc/self/net/unix", os.O_RDONLY)
	open("proc-victim", fmt.Sprintf("/proc/%d/cmdline", p.victim), os.O_RDONLY)
	p.call("inotify", unix.SYS_INOTIFY_INIT1)
	p.call("fanotify", unix.SYS_FANOTIFY_INIT, 0x200) // FAN_REPORT_FID, which needs no right
}

// modes tries what Landlock has no rights for, with a file that the program may not read.
func (p prober) modes() {
	file := filepath.Join(p.other, "file")
	copy(text[:], file+"\x00")
	at := uintptr(unsafe.Pointer(&text))
	p.say("chmod", os.Chmod(file, 0o600))
	p.say("fchmodat", unix.Fchmodat(unix.AT_FDCWD, file, 0o600, 0))
	p.call("fchmodat2", unix.SYS_FCHMODAT2, ^uintptr(99), at, 0o600, 0)
	p.say("chown", os.Lchown(file, os.Getuid(), -1))
	p.say("utimes", unix.UtimesNanoAt(unix.AT_FDCWD, file, []unix.Timespec{{Sec: 2}, {Sec: 2}}, 0))
	p.say("setxattr", unix.Setxattr(file, "user.a", []byte("1"), 0))
	p.say("removexattr", unix.Removexattr(file, "user.a"))
	p.say("truncate", unix.Truncate(file, 1))
	own, err := os.OpenFile(filepath.Join(p.write, "new"), os.O_RDWR, 0)
	if err == nil {
		defer own.Close()
		p.say("fchmod", own.Chmod(0o600))
		p.say("setxattr-own", unix.Fsetxattr(int(own.Fd()), "user.a", []byte("1"), 0))
	}
}

func (p prober) processes() {
	victim := uintptr(p.victim)
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	space := uintptr(unsafe.Pointer(&text))
	clear(text[:])
	limit := unix.Rlimit{Cur: cpuLimit, Max: cpuLimit}
	p.say("signal", syscall.Kill(p.victim, 0))
	p.say("signal-thread", unix.Tgkill(p.victim, p.victim, 0))
	copy(text[8:], "\xff\xff\xff\xff") // the code of struct siginfo, SI_QUEUE
	p.call("signal-queue", unix.SYS_RT_SIGQUEUEINFO, victim, 0, space)
	clear(text[:])
	p.say("prlimit-get", unix.Prlimit(p.victim, unix.RLIMIT_CPU, nil, &unix.Rlimit{}))
	p.say("prlimit", unix.Prlimit(p.victim, unix.RLIMIT_CPU, &limit, nil))
	p.call("scheduler", unix.SYS_SCHED_SETSCHEDULER, victim, 0, space)
	p.call("scheduler-param", unix.SYS_SCHED_SETPARAM, victim, space)
	text[0] = 48 // the size of struct sched_attr
	p.call("scheduler-attr", unix.SYS_SCHED_SETATTR, victim, space, 0)
	p.say("setpriority", unix.Setpriority(unix.PRIO_PROCESS, p.victim, 1))
	p.say("setpriority-user", unix.Setpriority(unix.PRIO_USER, 0, 1))
	p.say("affinity", unix.SchedSetaffinity(p.victim, &set))
	p.call("ioprio", unix.SYS_IOPRIO_SET, 1, victim, 2<<13|4)
	p.call("pidfd", unix.SYS_PIDFD_OPEN, victim, 0)
	p.call("read-memory", unix.SYS_PROCESS_VM_READV, victim, 0, 0, 0, 0, 0)
	p.say("ptrace", unix.PtraceAttach(p.victim))
	p.call("setpgid", unix.SYS_SETPGID, 0, 0)
	p.call("setsid", unix.SYS_SETSID)
}

func (p prober) sockets() {
	for what, s := range map[string][3]uintptr{
		"tcp-socket": {unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}, "udp-socket": {unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP},
		"route-socket": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, "diag-socket": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG},
		"packet-socket": {unix.AF_PACKET, unix.SOCK_RAW, 0}, "alg-socket": {unix.AF_ALG, unix.SOCK_SEQPACKET, 0}, "vsock-socket": {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"xdp-socket": {unix.AF_XDP, unix.SOCK_RAW, 0}, "tipc-socket": {unix.AF_TIPC, unix.SOCK_SEQPACKET, 0}, "unix-datagram": {unix.AF_UNIX, unix.SOCK_DGRAM, 0},
		"mptcp-socket": {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP},
	} {
		p.call(what, unix.SYS_SOCKET, s[:]...)
	}
	_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	p.say("pair", err)
	for what, address := range map[string][2]string{"listen": {"unix", filepath.Join(p.write, "socket")}, "port": {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(address[0], address[1])
		p.say(what, err)
		if err == nil {
			_ = l.Close()
		}
	}
	for what, path := range map[string]string{"connect": filepath.Join(p.other, "socket"), "abstract": "@" + p.other} {
		conn, err := net.Dial("unix", path)
		p.say(what, err)
		if err == nil {
			_ = conn.Close()
		}
	}
}

func (p prober) rest() {
	copy(text[:], "svc\x00")
	at := uintptr(unsafe.Pointer(&text))
	p.call("memfd", unix.SYS_MEMFD_CREATE, at, 0)
	p.call("execveat", unix.SYS_EXECVEAT, ^uintptr(0), 0, 0, 0, unix.AT_EMPTY_PATH)
	p.call("shmget", unix.SYS_SHMGET, 0x5ec3, 4096, 0)
	p.call("msgget", unix.SYS_MSGGET, 0x5ec3, 0)
	p.call("semget", unix.SYS_SEMGET, 0x5ec3, 1, 0)
	p.call("mq", unix.SYS_MQ_OPEN, at, unix.O_RDWR, 0, 0)
	p.call("keyctl", unix.SYS_KEYCTL, 0, ^uintptr(2), 0)
	p.call("personality", unix.SYS_PERSONALITY, 0xffffffff)
	p.call("io-uring", unix.SYS_IO_URING_SETUP, 1, 0)
	p.say("mount", unix.Mount("none", p.write, "tmpfs", 0, ""))
	p.say("unshare", unix.Unshare(unix.CLONE_NEWUSER))
	p.say("execute", syscall.Exec("/bin/sh", []string{"sh", "-c", "true"}, nil)) // an unconfined one ends here
}
