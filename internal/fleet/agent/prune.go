package agent

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// keepFor is how long the data and the bundle of a version stay that does not run here: a
// version that comes back finds its pages. Everything that must not be lost is in the object
// store, or in a directory that an owner will use again soon.
const keepFor = 24 * time.Hour

// prune removes what no version of this machine has used for keepFor, and of a pod all bundles. It is
// called before versions run.
func (a *Agent) prune() error {
	var errs []error
	if a.cfg.Machine != "" { // they were not synced: a power failure may have left files of zeros
		errs = append(errs, os.RemoveAll(a.sub("bundles")))
	}
	for _, kind := range []string{"versions", "bundles"} {
		dirs, err := filepath.Glob(a.sub(kind, "*", "*"))
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > keepFor {
				errs = append(errs, os.RemoveAll(dir))
			}
		}
	}
	return errors.Join(errs...)
}

// touch notes that a directory is used.
func touch(dir string) error {
	now := time.Now()
	return os.Chtimes(dir, now, now)
}
