package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// tempDir is the directory of temporary files of requests.
const tempDir = "tmp"

// Temp creates an empty file on the disk of the databases. The caller closes and deletes it; the
// next opening of the version deletes files left by a crash.
func (v *Volumes) Temp() (*os.File, error) {
	if v.room.left() <= 0 {
		return nil, fmt.Errorf("create temporary file: %w", v.room.full())
	}
	dir := filepath.Join(v.cfg.Dir, tempDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	f, err := os.CreateTemp(dir, "*")
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	return f, nil
}
