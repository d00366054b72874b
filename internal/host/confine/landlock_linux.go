package confine

import (
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readDir  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execute  = readFile | unix.LANDLOCK_ACCESS_FS_EXECUTE
	write    = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	change   = readDir | write | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	ofFiles = execute | write | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // rights that a rule for one file may have
)

// system are the files that a program needs to start, to resolve names, to check
// certificates and to know the machine.
//
//nolint:gochecknoglobals // constant tables
var (
	system = []string{
		"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store",
		"/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/share/zoneinfo",
		"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/var/run/nscd",
		"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm", "/dev/urandom", "/dev/random", "/dev/zero",
	}
	// ofEtc are what root gets of /etc, for it could read the hashes of passwords. Others get
	// all of it: the files may be replaced while the program runs.
	ofEtc = []string{
		"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
		"/etc/services", "/etc/protocols", "/etc/localtime", "/etc/timezone", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/alternatives",
	}
)

func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// handled are the rights that a version of Landlock knows.
func handled(version int) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}
	if version >= 2 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// restrictFiles applies p by Landlock, unless the kernel has none, or the program is a script,
// which executes others.
func restrictFiles(p Profile, root bool) (bool, error) {
	version := landlockVersion()
	loader, known := interpreter(p.Program)
	if version == 0 || !known {
		return false, nil
	}
	attr := handled(version)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // the kernel reads attr during the call
	if errno != 0 {
		return false, errno
	}
	defer unix.Close(int(fd))
	rules := ruleset{fd: fd, handled: attr.Handled_access_fs}
	rules.add(execute, p.Program, loader)
	rules.add(readDir, system...)
	rules.add(readDir, p.Read...)
	rules.add(change, p.Write...)
	rules.add(readFile|write, "/dev/null")
	if etc := []string{"/etc"}; root {
		rules.add(readDir, ofEtc...)
	} else {
		rules.add(readDir, etc...)
	}
	if rules.err != nil {
		return false, rules.err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return false, errno
	}
	return true, nil
}

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

// interpreter is the dynamic loader of a program, "" for none; ok is false for a program of
// another format.
func interpreter(program string) (path string, ok bool) {
	f, err := elf.Open(program)
	if err != nil {
		return "", false
	}
	defer f.Close()
	for _, s := range f.Progs {
		if s.Type == elf.PT_INTERP {
			text, _ := io.ReadAll(s.Open()) // a loader that cannot be read is missed when the program starts
			path, _ := filepath.EvalSymlinks(strings.TrimRight(string(text), "\x00"))
			return path, true
		}
	}
	return "", true
}
