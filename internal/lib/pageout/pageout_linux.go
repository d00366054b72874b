package pageout

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Out moves the memory of a process to swap. Pages that the process uses meanwhile may stay.
// For the errors see [Denied]; a process that has ended is another one.
func Out(pid int) error {
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return fmt.Errorf("paging a process out: %w", err)
	}
	advise := adviseOwn
	if pid != os.Getpid() {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return fmt.Errorf("paging a process out: %w", os.NewSyscallError("pidfd_open", err))
		}
		defer unix.Close(fd)
		advise = func(a area) error { return adviseOther(fd, a) }
	}
	for _, a := range areas(string(maps)) {
		err := advise(a)
		// The range is gone, or of a kind that stays in memory.
		if err != nil && !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("paging a process out: %w", err)
		}
	}
	return nil
}

func adviseOwn(a area) error {
	_, _, e := unix.Syscall(unix.SYS_MADVISE, a.begin, a.length, unix.MADV_PAGEOUT)
	return failure("madvise", e)
}

// adviseOther is adviseOwn for the process of a pidfd. The addresses are those of that process.
func adviseOther(fd int, a area) error {
	_, _, e := unix.Syscall6(unix.SYS_PROCESS_MADVISE, uintptr(fd), uintptr(unsafe.Pointer(&a)), 1, unix.MADV_PAGEOUT, 0, 0) //nolint:gosec // G103: an area is an iovec
	return failure("process_madvise", e)
}

func failure(call string, e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return os.NewSyscallError(call, e)
}
