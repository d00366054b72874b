package cowvfs

import (
	"errors"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Name is what the VFS is called in the engine: what raw.Options.VFS, or vfs= in
// a URI, must say for a file that is attached. Other files opened by this name
// are the operating system's, as if they had been opened without it.
const Name = "svc-cow"

// The types of the engine's methods that are called here.
type (
	openFunc   = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	deleteFunc = func(*libc.TLS, uintptr, uintptr, int32) int32
	ioFunc     = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	sizeFunc   = func(*libc.TLS, uintptr, int64) int32
	flagFunc   = func(*libc.TLS, uintptr, int32) int32
	fileFunc   = func(*libc.TLS, uintptr) int32
	ctlFunc    = func(*libc.TLS, uintptr, int32, uintptr) int32
	mapFunc    = func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32
	lockFunc   = func(*libc.TLS, uintptr, int32, int32, int32) int32
)

// kind is what is done to an open file.
type kind int

const (
	lazyMain  kind = iota // a database whose pages may be missing
	plainMain             // a database whose pages are all here: reads are the engine's own
	walFile
)

// engine is our half of the engine's list of VFSs. The methods of its own VFS
// for the operating system are kept; a file that is ours has a copy of their
// table in which some are replaced, and two words behind the engine's own file
// (struct extra) by which the replacements find the original table and the conn.
type engine struct {
	once   sync.Once
	err    error
	native uintptr // the VFS of the operating system
	behind uintptr // where extra is, from the start of a file

	mu     sync.RWMutex // guards what follows
	files  map[string]*File
	tables map[tableKey]uintptr
}

type tableKey struct {
	native uintptr
	kind   kind
}

type extra struct {
	native uintptr // the table of methods that the engine gave the file
	conn   uintptr // *conn
}

//nolint:gochecknoglobals // the engine has one list of VFSs for the process, and its callbacks bring no address of ours to find files by
var theEngine engine

// register makes the VFS known to the engine, once.
func (e *engine) register() error {
	e.once.Do(func() {
		e.files, e.tables = map[string]*File{}, map[tableKey]uintptr{}
		tls := libc.NewTLS()
		defer tls.Close()
		if e.native = lib.Xsqlite3_vfs_find(tls, 0); e.native == 0 {
			e.err = errors.New("the engine has no VFS")
			return
		}
		v := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_vfs{})))
		name, err := libc.CString(Name)
		if v == 0 || err != nil {
			e.err = errors.New("out of memory")
			return
		}
		vfs := at[lib.Tsqlite3_vfs](v) // never freed: the engine keeps it
		*vfs = *at[lib.Tsqlite3_vfs](e.native)
		e.behind = uintptr(vfs.FszOsFile+15) &^ 15
		vfs.FszOsFile = int32(e.behind + unsafe.Sizeof(extra{}))
		vfs.FpNext, vfs.FzName = 0, name
		vfs.FxOpen, vfs.FxDelete = word[openFunc](xOpen), word[deleteFunc](xDelete)
		if rc := lib.Xsqlite3_vfs_register(tls, v, 0); rc != lib.SQLITE_OK {
			e.err = errors.New("the engine refuses the VFS")
		}
	})
	return e.err
}

// file is the attached file at the path that a C string gives, less suffix.
func (e *engine) file(name uintptr, suffix string) *File {
	path, ok := strings.CutSuffix(libc.GoString(name), suffix)
	if !ok {
		return nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.files[path]
}

// table is native with the methods of kind k replaced.
func (e *engine) table(tls *libc.TLS, native uintptr, k kind) uintptr {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.tables[tableKey{native, k}]; t != 0 {
		return t
	}
	t := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_io_methods{})))
	if t == 0 {
		return 0
	}
	m := at[lib.Tsqlite3_io_methods](t)
	*m = *at[lib.Tsqlite3_io_methods](native)
	m.FxClose = word[fileFunc](xClose)
	switch k {
	case walFile:
		m.FxWrite, m.FxTruncate = word[ioFunc](xWALWrite), word[sizeFunc](xWALTruncate)
	case lazyMain:
		m.FxRead, m.FxTruncate, m.FxSync = word[ioFunc](xRead), word[sizeFunc](xTruncate), word[flagFunc](xSync)
		fallthrough
	case plainMain:
		m.FiVersion = min(m.FiVersion, 2) // without xFetch: no page is read around xRead
		m.FxWrite, m.FxFileControl = word[ioFunc](xWrite), word[ctlFunc](xFileControl)
		m.FxShmMap, m.FxShmLock = word[mapFunc](xShmMap), word[lockFunc](xShmLock)
	}
	e.tables[tableKey{native, k}] = t
	return t
}

// adopt makes the file at p, which the engine has just opened, one of f's.
func (e *engine) adopt(tls *libc.TLS, p uintptr, f *File, k kind) bool {
	native := *at[uintptr](p)
	t := e.table(tls, native, k)
	if t == 0 {
		return false
	}
	c := &conn{file: f}
	f.hold(c)
	*at[extra](p + e.behind) = extra{native, address(c)}
	*at[uintptr](p) = t
	return true
}

// become gives the file at p, between two of its calls, the methods of kind k.
func (e *engine) become(tls *libc.TLS, p uintptr, k kind) {
	if t := e.table(tls, at[extra](p+e.behind).native, k); t != 0 {
		*at[uintptr](p) = t
	}
}

// of is the connection that the file at p belongs to, and the engine's methods for it.
func (e *engine) of(p uintptr) (*conn, *lib.Tsqlite3_io_methods) {
	x := at[extra](p + e.behind)
	return at[conn](x.conn), at[lib.Tsqlite3_io_methods](x.native)
}

// close ends our part in the file at p and closes it.
func (e *engine) close(tls *libc.TLS, p uintptr) int32 {
	c, m := e.of(p)
	rc := function[fileFunc](m.FxClose)(tls, p)
	*at[uintptr](p) = 0
	c.file.drop(c)
	return rc
}
