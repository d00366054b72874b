package cowvfs

import "unsafe"

// This file and engine.go convert between Go and SQLite's C memory. The engine is C
// translated to Go: it keeps addresses as integers, invisible to the garbage collector, in
// memory of the operating system. The conversions below are valid because:
//
//   - An address from the engine (a file, a buffer, its tables of methods, the mapped
//     wal-index) lies outside Go's heap and stays valid during the call; the wal-index
//     until its connection unmaps it.
//   - The only Go address that the engine keeps is that of a *conn, which its File keeps
//     alive until the engine has closed it; Go's heap does not move.
//   - A function is passed as the one word of its value. Only declared functions are
//     passed, whose words point into the program's read-only data.

// at reads the T at address p.
func at[T any](p uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) }

// view is the n bytes at address p, valid as long as p.
func view(p uintptr, n int) []byte { return unsafe.Slice(at[byte](p), n) }

// address is the address of v. Its user must keep v alive.
func address[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }

// word is the one word of a declared function f.
func word[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the function that word p stands for; F must be its type.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }
