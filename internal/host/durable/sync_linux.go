package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncAll syncs the files that were restored: they are believed after a power failure.
func (k *Keeper) syncAll(files int) error {
	if files <= fewFiles {
		return k.syncEach()
	}
	dir, err := os.Open(k.cfg.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}
