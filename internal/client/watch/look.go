package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Stamp is what tells two states of a file apart.
type Stamp struct {
	Size  int64
	mtime time.Time
}

// Look returns the stamps of the files that a watcher of root reports: those of the tree, and those of
// also. What cannot be read is as if it were not there.
func Look(root string, also []string) map[string]Stamp {
	found := Outside(root, also)
	lookBelow(root, found)
	return found
}

// Outside returns the stamps of those files of also that are no part of the tree, or in parts of it that
// are not entered.
func Outside(root string, also []string) map[string]Stamp {
	found := map[string]Stamp{}
	for _, path := range also {
		if entered(root, path) && entered(root, filepath.Join(path, "x")) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			lookBelow(path, found)
		default:
			found[path] = Stamp{info.Size(), info.ModTime()}
		}
	}
	return found
}

// lookBelow adds the stamps of the files below a directory.
func lookBelow(root string, found map[string]Stamp) {
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // the others are still read
		case e.IsDir() && path != root && skipped(e.Name()):
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		if info, err := e.Info(); err == nil {
			found[path] = Stamp{info.Size(), info.ModTime()}
		}
		return nil
	})
}
