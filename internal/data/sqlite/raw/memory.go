package raw

import (
	"unsafe"

	"modernc.org/libc"
)

const pointerSize = libc.Tsize_t(unsafe.Sizeof(uintptr(0)))

// pointer reads p as an address. The engine keeps addresses as integers; all of them
// point to its own memory or to a Conn that the caller keeps alive.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// funcPointer is the address at which the engine calls f. f must be a declared
// function, not a closure.
func funcPointer[F any](f F) uintptr {
	return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f}))
}

// cString copies s into C memory, with a zero byte at the end.
func (c *Conn) cString(s string) uintptr {
	p := libc.Xmalloc(c.tls, libc.Tsize_t(len(s)+1))
	b := unsafe.Slice((*byte)(pointer(p)), len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	return p
}

func (c *Conn) free(p uintptr) {
	if p != 0 {
		libc.Xfree(c.tls, p)
	}
}

// goBytes copies n bytes at p.
func goBytes(p uintptr, n int) []byte {
	b := make([]byte, n)
	if n > 0 {
		copy(b, unsafe.Slice((*byte)(pointer(p)), n))
	}
	return b
}

// goString copies n bytes at p.
func goString(p uintptr, n int) string {
	if n == 0 {
		return ""
	}
	return string(unsafe.Slice((*byte)(pointer(p)), n))
}
