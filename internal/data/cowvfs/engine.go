package cowvfs

import (
	"errors"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Name is the name of the VFS in the engine: the value of raw.Options.VFS, or of vfs= in a
// URI, for an attached file. Other files opened with this name use the operating system's VFS,
// as without a name.
const Name = "svc-cow"

// The types of the engine's methods that this package calls.
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

// kind is the set of methods of an open file.
type kind int

const (
	lazyMain  kind = iota // a database whose pages may be missing
	plainMain             // a database whose pages are all present: reads are the engine's own
	walFile
)

// engine extends the engine's list of VFSs. The methods of the operating system's VFS are
// kept; an attached file has a copy of their table in which some are replaced, and two words
// after the engine's own file (struct extra) by which the replacements find the original
// table and the conn.
type engine struct {
	once   sync.Once
	err    error
	native uintptr // the VFS of the operating system
	behind uintptr // offset of extra from the start of a file

	mu     sync.RWMutex // guards the fields below
	files  map[string]*File
	tables map[tableKey]uintptr
}

type tableKey struct {
	native uintptr
	kind   kind
}

type extra struct {
	native uintptr // the engine's own table of methods for the file
	conn   uintptr // *conn
}

//nolint:gochecknoglobals // the engine has one list of VFSs per process, and its callbacks have no argument to find files by
var theEngine engine

// register registers the VFS with the engine, once.
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
			e.err = errors.New("the engine rejected the VFS")
		}
	})
	return e.err
}

// file is the attached file at the path of a C string, less suffix.
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

// adopt attaches the file at p, which the engine has just opened, to f.
func (e *engine) adopt(tls *libc.TLS, p uintptr, f *File, k kind) bool {
	native := *at[uintptr](p)
	t := e.table(tls, native, k)
	if t == 0 {
		return false
	}
	c := &conn{file: f}
	f.add(c)
	*at[extra](p + e.behind) = extra{native, address(c)}
	*at[uintptr](p) = t
	return true
}

// setKind gives the file at p, between two of its calls, the methods of kind k.
func (e *engine) setKind(tls *libc.TLS, p uintptr, k kind) {
	if t := e.table(tls, at[extra](p+e.behind).native, k); t != 0 {
		*at[uintptr](p) = t
	}
}

// of returns the conn of the file at p, and the engine's own methods for it.
func (e *engine) of(p uintptr) (*conn, *lib.Tsqlite3_io_methods) {
	x := at[extra](p + e.behind)
	return at[conn](x.conn), at[lib.Tsqlite3_io_methods](x.native)
}

// close closes the file at p and releases its conn.
func (e *engine) close(tls *libc.TLS, p uintptr) int32 {
	c, m := e.of(p)
	rc := function[fileFunc](m.FxClose)(tls, p)
	*at[uintptr](p) = 0
	c.file.remove(c)
	return rc
}
