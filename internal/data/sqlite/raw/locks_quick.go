//go:build linux && (amd64 || arm64)

package raw

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// remote is true once a database was opened whose locks may be those of another machine.
//
//nolint:gochecknoglobals // the engine has one table of system calls per process
var remote atomic.Bool

//nolint:gochecknoglobals // as remote
var setUpLocks = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	name, err := libc.CString("fcntl")
	if err != nil {
		return // the engine's own call serves as well
	}
	defer libc.Xfree(tls, name)
	vfs := lib.Xsqlite3_vfs_find(tls, 0)
	set := *(*func(*libc.TLS, uintptr, uintptr, uintptr) int32)(unsafe.Pointer(&struct{ p uintptr }{(*lib.Tsqlite3_vfs)(pointer(vfs)).FxSetSystemCall}))
	set(tls, vfs, name, funcPointer(fcntl))
})

// quickLocks makes the engine lock files by calls that Go's scheduler does not see, unless
// the file at path is, or one opened before was, on a file system that is not known to be of
// this machine.
func quickLocks(path string) {
	var fs unix.Statfs_t
	if unix.Statfs(filepath.Dir(path), &fs) != nil || !isLocal(fs.Type) {
		remote.Store(true)
	}
	setUpLocks()
}

func isLocal(kind int64) bool {
	switch kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

// fcntl is the engine's call for locks, which never wait. Telling the scheduler takes longer
// than the call, and wakes the monitor thread of a quiet process.
func fcntl(tls *libc.TLS, fd, cmd int32, arguments uintptr) int32 {
	if cmd != unix.F_SETLK || remote.Load() {
		return libc.Xfcntl(tls, fd, cmd, arguments)
	}
	for {
		_, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), uintptr(cmd), *(*uintptr)(pointer(arguments)))
		if errno == 0 {
			return 0
		}
		if errno != unix.EINTR {
			*(*int32)(pointer(libc.X__errno_location(tls))) = int32(errno)
			return -1
		}
	}
}
