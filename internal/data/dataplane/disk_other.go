//go:build !linux

package dataplane

import "os"

// syncFile syncs the content and the length of f to disk.
func syncFile(f *os.File) error { return f.Sync() }
