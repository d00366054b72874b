package confine

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ruleOfPort is LANDLOCK_RULE_NET_PORT.
const ruleOfPort = 2

// ruleset is a set of rules of Landlock that is being filled.
type ruleset struct {
	fd      uintptr
	handled uint64
	err     error // the first one
}

// add allows rights for what is at and below paths.
func (r *ruleset) add(rights uint64, paths ...string) {
	for _, path := range paths {
		if path == "" || r.err != nil {
			continue
		}
		if err := r.addOne(rights, path); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) {
			r.err = &os.PathError{Op: "allow", Path: path, Err: err}
		}
	}
}

func (r *ruleset) addOne(rights uint64, path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}                                           //nolint:gosec // a descriptor
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.fd, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // the kernel reads rule during the call
	if errno != 0 {
		return errno
	}
	return nil
}

// addAnyPort allows to listen at a TCP port that the kernel chooses.
func (r *ruleset) addAnyPort() {
	rule := struct{ access, port uint64 }{access: unix.LANDLOCK_ACCESS_NET_BIND_TCP}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.fd, ruleOfPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // as above
	if errno != 0 {
		r.err = os.NewSyscallError("allow a port", errno)
	}
}
