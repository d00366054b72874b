//go:build !linux

package supervisor

import (
	"os"
	"path/filepath"
)

type program struct{ path, name string }

// executable is the file of the program that runs.
func executable() (program, error) {
	path, err := os.Executable()
	return program{path, filepath.Base(path)}, err
}

// rss is not known here.
func rss(int) int64 { return 0 }
