package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// tempDir is the directory of files that a request needs for a while.
const tempDir = "tmp"

// Temp makes an empty file on the disk of the stores. The caller closes and
// removes it; what a crash leaves is gone once the version is opened again.
func (v *Volumes) Temp() (*os.File, error) {
	dir := filepath.Join(v.cfg.Dir, tempDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	f, err := os.CreateTemp(dir, "*")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	return f, nil
}
