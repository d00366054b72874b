//go:build !linux

package durable

// syncAll syncs the files that were restored: they are believed after a power failure.
func (k *Keeper) syncAll(int) error { return k.syncEach() }
