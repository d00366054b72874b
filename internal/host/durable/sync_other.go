//go:build !linux

package durable

import (
	"errors"
	"path/filepath"
)

// syncAll syncs all files.
func (k *Keeper) syncAll() error {
	paths, err := filepath.Glob(filepath.Join(k.cfg.Dir, "*", "*"+suffix))
	for _, path := range paths {
		err = errors.Join(err, syncFile(path))
	}
	return err
}
