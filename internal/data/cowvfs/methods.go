package cowvfs

import (
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// The engine calls the functions in this file, with C arguments. A file is an address p. Every
// other method is the operating system's.

// The locks of the wal-index, by their numbers in the engine's file format.
const (
	lockWrite     = lib.WAL_WRITE_LOCK
	lockCkpt      = lib.WAL_CKPT_LOCK
	lockFirstRead = 4 // the first of the readers' locks, which a restart of the WAL takes together
)

//nolint:revive // the engine fixes the arguments
func xOpen(tls *libc.TLS, _, name, p uintptr, flags int32, out uintptr) int32 {
	e := &theEngine
	rc := function[openFunc](at[lib.Tsqlite3_vfs](e.native).FxOpen)(tls, e.native, name, p, flags, out)
	if rc != lib.SQLITE_OK || name == 0 {
		return rc
	}
	var f *File
	k := plainMain
	switch {
	case flags&lib.SQLITE_OPEN_MAIN_DB != 0:
		if f = e.file(name, ""); f != nil && !f.Hydrated() {
			k = lazyMain
		}
	case flags&lib.SQLITE_OPEN_WAL != 0:
		f, k = e.file(name, "-wal"), walFile
	}
	if f == nil || e.adopt(tls, p, f, k) {
		return lib.SQLITE_OK
	}
	function[fileFunc](at[lib.Tsqlite3_io_methods](*at[uintptr](p)).FxClose)(tls, p)
	*at[uintptr](p) = 0
	return lib.SQLITE_NOMEM
}

func xDelete(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	e := &theEngine
	native := function[deleteFunc](at[lib.Tsqlite3_vfs](e.native).FxDelete)
	f := e.file(name, "-wal")
	if f == nil {
		return native(tls, e.native, name, syncDir)
	}
	return f.beforeReset(lib.SQLITE_IOERR_DELETE, nil, func() int32 { return f.resized(0, native(tls, e.native, name, syncDir)) })
}

func xClose(tls *libc.TLS, p uintptr) int32 { return theEngine.close(tls, p) }

func xRead(tls *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
	c, m := theEngine.of(p)
	if c.file.Hydrated() {
		theEngine.setKind(tls, p, plainMain)
	} else if err := c.file.layer.need(off, int64(n)); err != nil {
		c.file.report("read a missing page", err)
		return lib.SQLITE_IOERR_READ
	}
	return function[ioFunc](m.FxRead)(tls, p, buf, n, off)
}

func xWrite(tls *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
	c, m := theEngine.of(p)
	if err := c.mayWrite(); err != nil {
		c.file.report("write the database file", err)
		return lib.SQLITE_IOERR_WRITE
	}
	native := function[ioFunc](m.FxWrite)
	if c.file.Hydrated() {
		return native(tls, p, buf, n, off)
	}
	return c.file.layer.write(off, int64(n), func() int32 { return native(tls, p, buf, n, off) })
}

func xTruncate(tls *libc.TLS, p uintptr, size int64) int32 {
	c, m := theEngine.of(p)
	return c.file.layer.truncate(size, func() int32 { return function[sizeFunc](m.FxTruncate)(tls, p, size) })
}

func xSync(tls *libc.TLS, p uintptr, flags int32) int32 {
	c, m := theEngine.of(p)
	var rc int32
	err := c.file.layer.persist(func() error {
		if rc = function[flagFunc](m.FxSync)(tls, p, flags); rc != lib.SQLITE_OK {
			return errSync
		}
		return nil
	})
	if err != nil && rc == lib.SQLITE_OK {
		c.file.report("save page map", err)
		return lib.SQLITE_IOERR_FSYNC
	}
	return rc
}

func xFileControl(tls *libc.TLS, p uintptr, op int32, arg uintptr) int32 {
	c, m := theEngine.of(p)
	switch op {
	case lib.SQLITE_FCNTL_CKPT_START:
		c.checkpoints = true
	case lib.SQLITE_FCNTL_CKPT_DONE:
		c.checkpoints = false
	case lib.SQLITE_FCNTL_PRAGMA:
		a := at[[3]uintptr](arg) // pointer to the answer, the name, the argument
		if why := c.file.refusal(libc.GoString(a[1]), libc.GoString(a[2])); why != "" {
			a[0] = engineString(tls, why)
			return lib.SQLITE_ERROR
		}
	}
	return function[ctlFunc](m.FxFileControl)(tls, p, op, arg)
}

//nolint:revive // the engine fixes the arguments
func xShmMap(tls *libc.TLS, p uintptr, block, size, extend int32, out uintptr) int32 {
	c, m := theEngine.of(p)
	rc := function[mapFunc](m.FxShmMap)(tls, p, block, size, extend, out)
	if block == 0 && rc == lib.SQLITE_OK {
		c.index = *at[uintptr](out)
	}
	return rc
}

// engineString copies s into memory that the engine will free.
func engineString(tls *libc.TLS, s string) uintptr {
	p := lib.Xsqlite3_malloc(tls, int32(len(s)+1))
	if p != 0 {
		copy(view(p, len(s)+1), s+"\x00")
	}
	return p
}

func xShmLock(tls *libc.TLS, p uintptr, first, n, flags int32) int32 {
	c, m := theEngine.of(p)
	native := function[lockFunc](m.FxShmLock)
	if flags&lib.SQLITE_SHM_EXCLUSIVE == 0 || first != lockWrite && first != lockCkpt && first != lockFirstRead || n != 1 && first != lockFirstRead {
		return native(tls, p, first, n, flags)
	}
	lock := func() int32 { return native(tls, p, first, n, flags) }
	taken := flags&lib.SQLITE_SHM_LOCK != 0
	switch {
	case first == lockWrite && !taken:
		return c.endWrite(lock)
	case first == lockCkpt:
		return c.file.checkpointLock(taken, lock)
	case first == lockFirstRead && n > 1 && taken:
		return c.file.restartLock(lock)
	}
	return lock()
}

func xWALWrite(tls *libc.TLS, p, buf uintptr, n int32, off int64) int32 {
	c, m := theEngine.of(p)
	native := func() int32 {
		rc := function[ioFunc](m.FxWrite)(tls, p, buf, n, off)
		return c.file.resized(max(off+int64(n), c.file.WALSize()), rc)
	}
	if !c.file.mayGrow(off + int64(n)) {
		return lib.SQLITE_FULL
	}
	switch {
	case off == 0 && n == walHeaderSize:
		return c.file.beforeReset(lib.SQLITE_IOERR_WRITE, view(buf, walHeaderSize), native)
	case n == frameHeaderSize && c.file.capture != nil:
		c.file.capture.frame(off, view(buf, frameHeaderSize))
	}
	return native()
}

func xWALTruncate(tls *libc.TLS, p uintptr, size int64) int32 {
	c, m := theEngine.of(p)
	native := func() int32 { return c.file.resized(size, function[sizeFunc](m.FxTruncate)(tls, p, size)) }
	if size != 0 {
		return native() // the engine truncates only invalid frames
	}
	c.file.walMay = 0
	return c.file.beforeReset(lib.SQLITE_IOERR_TRUNCATE, nil, native)
}
