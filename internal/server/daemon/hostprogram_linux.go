package daemon

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowestKept is above the descriptors that a child is started with: they would replace the
// program's own before it is executed.
const lowestKept = 64

// keep takes f and makes it a program.
func keep(f *os.File) (*program, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, lowestKept)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	kept := os.NewFile(uintptr(fd), f.Name())
	return &program{kept, "/proc/self/fd/" + strconv.Itoa(fd)}, f.Close()
}
