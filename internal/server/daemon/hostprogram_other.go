//go:build !linux

package daemon

import "os"

// keep takes f and makes it a program.
func keep(f *os.File) (*program, error) { return &program{f, f.Name()}, nil }
