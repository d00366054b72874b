//go:build !linux

package dataplane

import "os"

// syncFile brings the content of f to the disk, and its length.
func syncFile(f *os.File) error { return f.Sync() }
