package raw

import (
	"fmt"
	"runtime"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Type is the storage class of a value.
type Type int32

// The storage classes.
const (
	Integer Type = lib.SQLITE_INTEGER
	Float   Type = lib.SQLITE_FLOAT
	Text    Type = lib.SQLITE_TEXT
	Blob    Type = lib.SQLITE_BLOB
	Null    Type = lib.SQLITE_NULL
)

// Stmt is a prepared statement.
type Stmt struct {
	c       *Conn
	handle  uintptr
	params  int
	columns int
	bound   []uintptr // C memory that parameters point into, freed by Reset
	kept    bool      // in the cache, which finalizes it
	out     bool      // in use, though in the cache
	used    uint64    // when it was last in use

	// Note is data of the user of the statement, kept as long as the statement.
	Note any
}

// Prepare compiles the first statement of text and returns the rest of the text. A text
// of spaces and comments alone returns a nil Stmt. The caller finalizes the statement.
func (c *Conn) Prepare(text string) (s *Stmt, rest string, err error) {
	return c.prepare(text, 0)
}

func (c *Conn) prepare(text string, flags uint32) (*Stmt, string, error) {
	z := c.cString(text)
	defer c.free(z)
	s, next, err := c.prepareAt(z, 0, len(text), flags)
	if err != nil || next == 0 { // a zero byte ends the text
		return nil, "", err
	}
	return s, text[next:], nil
}

// prepareAt compiles the statement at offset at of the size bytes at z, and returns the
// offset of the next one. next is at itself when that byte is zero, which ends a text
// for the engine.
func (c *Conn) prepareAt(z uintptr, at, size int, flags uint32) (s *Stmt, next int, err error) {
	tail := c.out + uintptr(pointerSize)
	rc := lib.Xsqlite3_prepare_v3(c.tls, c.db, z+uintptr(at), int32(size-at+1), flags, c.out, tail)
	if rc != lib.SQLITE_OK {
		return nil, at, c.fail(rc)
	}
	next = min(int(*(*uintptr)(pointer(tail))-z), size)
	handle := *(*uintptr)(pointer(c.out))
	if handle == 0 {
		return nil, next, nil
	}
	s = &Stmt{c: c, handle: handle}
	s.params = int(lib.Xsqlite3_bind_parameter_count(c.tls, handle))
	s.columns = int(lib.Xsqlite3_column_count(c.tls, handle))
	return s, next, nil
}

// Finalize frees s, or returns it to the cache.
func (s *Stmt) Finalize() {
	s.Reset()
	s.out = false
	if !s.kept {
		s.finalize()
	}
}

func (s *Stmt) finalize() {
	if s.handle != 0 {
		lib.Xsqlite3_finalize(s.c.tls, s.handle)
		s.handle = 0
	}
}

// Reset makes s ready to run again and clears its parameters.
func (s *Stmt) Reset() {
	lib.Xsqlite3_reset(s.c.tls, s.handle)
	if len(s.bound) == 0 {
		return
	}
	lib.Xsqlite3_clear_bindings(s.c.tls, s.handle)
	for _, p := range s.bound {
		s.c.free(p)
	}
	s.bound = s.bound[:0]
}

// Step runs s up to its next row; row is false at the end.
func (s *Stmt) Step() (row bool, err error) {
	rc := lib.Xsqlite3_step(s.c.tls, s.handle)
	runtime.KeepAlive(s)
	switch rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	}
	return false, s.c.fail(rc)
}

// Steps is the number of rows that s has scanned since Reset, in tables and indexes,
// not counting direct lookups.
func (s *Stmt) Steps() int64 {
	const inRange = 0 // the engine's unnamed counter of moves that are not part of a full scan
	return int64(lib.Xsqlite3_stmt_status(s.c.tls, s.handle, lib.SQLITE_STMTSTATUS_FULLSCAN_STEP, 1)) +
		int64(lib.Xsqlite3_stmt_status(s.c.tls, s.handle, inRange, 1))
}

// RowWrites is the number of records that s writes for a row it inserts or updates: the
// row, and an entry in each changed index. It is 0 for other statements.
func (s *Stmt) RowWrites() (n int64) {
	stored := map[int32]bool{} // cursors on tables and indexes of the file
	for _, op := range s.program() {
		switch op.Fopcode {
		case lib.OP_OpenWrite:
			stored[op.Fp1] = true
		case lib.OP_Insert, lib.OP_IdxInsert:
			if stored[op.Fp1] {
				stored[op.Fp1] = false
				n++
			}
		}
	}
	return n
}

// Placed is how many rows s looks up that Steps does not count: once for each place where a
// loop begins, and in each row that it updates or deletes. Rows that an inner loop of a join
// looks up are not counted.
func (s *Stmt) Placed() (once, perChange int64) {
	program := s.program()
	loops := loops(program)
	for i, op := range program {
		switch {
		case !places(op.Fopcode):
		case !loops[i]:
			once++
		case op.Fopcode == lib.OP_NotExists:
			perChange++
		}
	}
	return once, perChange
}

// loops marks the instructions inside of loops.
func loops(program []lib.TVdbeOp) []bool {
	in := make([]bool, len(program))
	for i, op := range program {
		from, to := i, i
		switch op.Fopcode {
		case lib.OP_Next, lib.OP_Prev, lib.OP_SorterNext, lib.OP_VNext: // P2 is where the loop begins
			from, to = int(op.Fp2), i+1
		case lib.OP_RowSetRead: // P2 is behind the loop
			to = int(op.Fp2)
		}
		for at := from; at < min(to, len(in)); at++ {
			in[at] = true
		}
	}
	return in
}

func places(op uint8) bool {
	switch op {
	case lib.OP_Rewind, lib.OP_Sort, lib.OP_SorterSort, lib.OP_Last, lib.OP_SeekGE, lib.OP_SeekGT, lib.OP_SeekLE, lib.OP_SeekLT,
		lib.OP_SeekRowid, lib.OP_NotExists:
		return true
	}
	return false
}

// program are the instructions of s, memory of the engine.
func (s *Stmt) program() []lib.TVdbeOp {
	p := (*lib.TVdbe)(pointer(s.handle))
	return unsafe.Slice((*lib.TVdbeOp)(pointer(p.FaOp)), int(p.FnOp))
}

// Params is the highest number of a parameter.
func (s *Stmt) Params() int { return s.params }

// ReadOnly reports whether s cannot change the database file.
func (s *Stmt) ReadOnly() bool { return lib.Xsqlite3_stmt_readonly(s.c.tls, s.handle) != 0 }

// Bind sets parameter i, from 1, to a value: nil, int64, int, float64, bool, string or
// []byte.
func (s *Stmt) Bind(i int, value any) error {
	var rc int32
	switch v := value.(type) {
	case nil:
		rc = lib.Xsqlite3_bind_null(s.c.tls, s.handle, int32(i))
	case int64:
		rc = lib.Xsqlite3_bind_int64(s.c.tls, s.handle, int32(i), v)
	case int:
		rc = lib.Xsqlite3_bind_int64(s.c.tls, s.handle, int32(i), int64(v))
	case float64:
		rc = lib.Xsqlite3_bind_double(s.c.tls, s.handle, int32(i), v)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		rc = lib.Xsqlite3_bind_int64(s.c.tls, s.handle, int32(i), n)
	case string:
		rc = lib.Xsqlite3_bind_text(s.c.tls, s.handle, int32(i), s.hold(unsafe.StringData(v), len(v)), int32(len(v)), 0)
	case []byte:
		rc = lib.Xsqlite3_bind_blob(s.c.tls, s.handle, int32(i), s.hold(unsafe.SliceData(v), len(v)), int32(len(v)), 0)
	default:
		return fmt.Errorf("bind parameter: unsupported type %T", value)
	}
	if rc != lib.SQLITE_OK {
		return s.c.fail(rc)
	}
	return nil
}

// BindColumn sets parameter i, from 1, to the stored value of a column of the current
// row of another statement, which may belong to another connection.
func (s *Stmt) BindColumn(i int, from *Stmt, column int) error {
	value := lib.Xsqlite3_column_value(from.c.tls, from.handle, int32(column))
	if rc := lib.Xsqlite3_bind_value(s.c.tls, s.handle, int32(i), value); rc != lib.SQLITE_OK {
		return s.c.fail(rc)
	}
	return nil
}

// hold copies n bytes into C memory that lives until Reset.
func (s *Stmt) hold(data *byte, n int) uintptr {
	p := libc.Xmalloc(s.c.tls, libc.Tsize_t(n+1))
	s.bound = append(s.bound, p)
	if n > 0 {
		copy(unsafe.Slice((*byte)(pointer(p)), n), unsafe.Slice(data, n))
	}
	return p
}

// Columns is the number of columns of a row.
func (s *Stmt) Columns() int { return s.columns }

// ColumnName is the name of column i, from 0.
func (s *Stmt) ColumnName(i int) string {
	return libc.GoString(lib.Xsqlite3_column_name(s.c.tls, s.handle, int32(i)))
}

// ColumnType is the storage class of column i in the current row.
func (s *Stmt) ColumnType(i int) Type {
	return Type(lib.Xsqlite3_column_type(s.c.tls, s.handle, int32(i)))
}

// Int64 is column i of the current row as an integer.
func (s *Stmt) Int64(i int) int64 {
	return lib.Xsqlite3_column_int64(s.c.tls, s.handle, int32(i))
}

// Float64 is column i of the current row as a floating-point number.
func (s *Stmt) Float64(i int) float64 {
	return lib.Xsqlite3_column_double(s.c.tls, s.handle, int32(i))
}

// Text is column i of the current row as text; it need not be valid UTF-8.
func (s *Stmt) Text(i int) string {
	p := lib.Xsqlite3_column_text(s.c.tls, s.handle, int32(i))
	return goString(p, int(lib.Xsqlite3_column_bytes(s.c.tls, s.handle, int32(i))))
}

// Blob is column i of the current row as bytes.
func (s *Stmt) Blob(i int) []byte {
	p := lib.Xsqlite3_column_blob(s.c.tls, s.handle, int32(i))
	return goBytes(p, int(lib.Xsqlite3_column_bytes(s.c.tls, s.handle, int32(i))))
}

// View is column i of the current row as bytes of the engine's own memory, valid until
// the next Step or Reset.
func (s *Stmt) View(i int) []byte {
	p := lib.Xsqlite3_column_blob(s.c.tls, s.handle, int32(i))
	n := int(lib.Xsqlite3_column_bytes(s.c.tls, s.handle, int32(i)))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(p)), n)
}

// IsNull reports whether column i of the current row is NULL.
func (s *Stmt) IsNull(i int) bool { return s.ColumnType(i) == Null }
