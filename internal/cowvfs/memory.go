package cowvfs

import "unsafe"

// This file and engine.go are where Go and SQLite's C memory meet. The engine is
// C translated to Go: it keeps addresses as integers, outside the sight of the
// garbage collector, in memory that it got from the operating system. What makes
// the conversions below valid:
//
//   - An address that the engine hands out (a file, a buffer, its tables of
//     methods, the mapped wal-index) lies outside Go's heap and stays good for the
//     call in which it is used; the wal-index until its connection unmaps it.
//   - An address of ours that the engine keeps is that of a *conn, which its File
//     holds until the engine has closed it; Go's heap does not move.
//   - A function is passed as the one word of its value. Only declared functions
//     are passed, whose words point into the program's read-only data.

// at reads the T at address p.
func at[T any](p uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) }

// view is the n bytes at address p, good for the call in which p is.
func view(p uintptr, n int) []byte { return unsafe.Slice(at[byte](p), n) }

// address is where v lies. Whoever keeps it must keep v alive.
func address[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }

// word is the one word of the declared function f.
func word[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the function that word p stands for; F must be its type.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }
