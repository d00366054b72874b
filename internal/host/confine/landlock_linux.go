package confine

import (
	"debug/elf"
	"io"
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
	connect  = unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX // to sockets that programs outside made
	change   = readDir | write | connect | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	ofFiles = execute | write | connect | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // rights that a rule for one file may have
)

// system are the files that a program needs to start, to resolve names, to check certificates and
// to know the machine. Of /proc they are single files: /proc/net names the sockets of all programs.
//
//nolint:gochecknoglobals // constant tables
var (
	system = []string{
		"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store",
		"/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/var/lib/ca-certificates", "/usr/share/zoneinfo",
		"/run/resolvconf", "/run/NetworkManager", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm/overcommit_memory",
		"/sys/devices/system", "/dev/urandom", "/dev/random", "/dev/zero",
	}
	// resolvers are the directories of sockets that resolve names.
	resolvers = []string{"/run/systemd/resolve", "/var/run/nscd"}
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
	if version >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP
	}
	if version >= 5 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if version >= 9 {
		a.Handled_access_fs |= connect
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
	if p.Listen && attr.Handled_access_net != 0 {
		rules.addAnyPort()
	}
	rules.add(execute, p.Program, loader)
	rules.add(readDir, system...)
	rules.add(readDir|connect, resolvers...)
	rules.add(readDir, p.Read...)
	rules.add(change, p.Write...)
	rules.add(readFile|write, "/dev/null")
	rules.add(readDir, readableEtc(root)...)
	if rules.err != nil {
		return false, rules.err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return false, errno
	}
	return true, nil
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
