package confine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listen applies the filter to the calling thread.
func listen(opens, connects bool) (fd int, err error) {
	if arch == 0 {
		return 0, ErrNoCalls
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("%w: setting no_new_privs: %w", ErrNoCalls, err)
	}
	list := reporting(opens, connects)
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]} //nolint:gosec // some
	const call, flag = unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, call, flag, uintptr(unsafe.Pointer(&program))) //nolint:gosec // the kernel reads program during the call
	runtime.KeepAlive(list)
	if errno != 0 {
		return 0, fmt.Errorf("%w: %w", ErrNoCalls, errno)
	}
	return int(listener), nil
}

// tried tells whether a call can be reported and continued, which kernels before 5.5 and some
// containers do not allow. It tries it on a thread of its own.
//
//nolint:gochecknoglobals // does not change while the program runs
var tried = sync.OnceValue(func() error {
	result := make(chan error, 2)
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		fd, err := listen(true, false)
		if err != nil {
			result <- err
			return
		}
		go func() { result <- serveTrial(fd) }()
		_, err = unix.Openat(-1, "x", unix.O_CREAT|unix.O_RDWR, 0) // fails in any case
		if !errors.Is(err, unix.EBADF) {
			result <- fmt.Errorf("%w: %w", ErrNoCalls, err)
		}
	}()
	return <-result
})

// serveTrial handles one call and closes fd.
func serveTrial(fd int) error {
	defer unix.Close(fd)
	for handled := false; !handled; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, trialLimit) //nolint:gosec // a descriptor
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil && n == 0:
			err = unix.ETIMEDOUT
		case err == nil:
			_, err = serveOne(uintptr(fd), func(fd uintptr, c *call) error {
				handled = true
				return c.answer(fd, func(string, error) error { return nil })
			})
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoCalls, err)
		}
	}
	return nil
}

// trialLimit is how long a call may take to be reported, in milliseconds.
const trialLimit = 10_000

// reporting is the filter: openat with O_CREAT is reported, and connect with tgkill. Landlock itself
// restricts signals from version 6 on (Linux 6.12).
func reporting(opens, connects bool) []unix.SockFilter {
	report := answer(unix.SECCOMP_RET_USER_NOTIF)
	var rules []rule
	if opens {
		rules = append(rules, rule{unix.SYS_OPENAT, []unix.SockFilter{load(atArg(2)), jump(unix.BPF_JSET, unix.O_CREAT, 0, 1), report, allow}})
	}
	if connects {
		rules = append(rules, rule{unix.SYS_CONNECT, []unix.SockFilter{report}}, rule{unix.SYS_TGKILL, preempting(report)})
	}
	program := []unix.SockFilter{load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), allow}
	return append(program, match(atCall, allow, rules...)...)
}

// preempting reports tgkill with one exception: the signal by which Go's runtime in the calling process
// interrupts its threads. The thread sends it when it collects garbage, and then no goroutine could serve: all
// of them stop until the signal has arrived. From a program, the signal does nothing to a Go process.
func preempting(report unix.SockFilter) []unix.SockFilter {
	self := uint32(unix.Getpid()) //nolint:gosec // not negative
	return []unix.SockFilter{
		load(atArg(0)), jump(unix.BPF_JEQ, self, 0, 2),
		load(atArg(2)), jump(unix.BPF_JEQ, uint32(unix.SIGURG), 1, 0),
		report, allow,
	}
}
