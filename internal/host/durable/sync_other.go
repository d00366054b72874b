//go:build !linux

package durable

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// syncAll syncs all files.
func (k *Keeper) syncAll() error {
	paths, err := filepath.Glob(filepath.Join(k.cfg.Dir, "*", "*"+suffix))
	for _, path := range paths {
		f, openErr := os.Open(path)
		if openErr != nil { // deleted meanwhile
			continue
		}
		err = errors.Join(err, f.Sync(), f.Close())
	}
	for _, key := range k.cfg.Keys {
		err = errors.Join(err, atomicfile.SyncDir(filepath.Join(k.cfg.Dir, key)))
	}
	return errors.Join(err, atomicfile.SyncDir(k.cfg.Dir))
}
