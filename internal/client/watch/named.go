package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Named files and directories are in parts of the tree that are not entered, or outside of
// it: a module in node_modules, or the static files that a framework builds in
// .output/public. A directory is reported with what is below it, and all of them may be
// deleted and made again.

// named reports whether the list has the path, or a directory that is entered on the way
// to it.
func named(list map[string]bool, path string) bool {
	for p := path; ; p = filepath.Dir(p) {
		switch {
		case list[p]:
			return true
		case p != path && skipped(filepath.Base(p)), p == filepath.Dir(p):
			return false
		}
	}
}

// above lists the directories that have to be watched to see a named path appear, the
// topmost first: those between the part of the tree that is entered and the path. Outside of
// the tree, it is the parent alone.
func above(root, path string) []string {
	dirs := []string{filepath.Dir(path)}
	if !inside(root, path) {
		return dirs
	}
	for !entered(root, filepath.Join(dirs[0], "x")) {
		dirs = append([]string{filepath.Dir(dirs[0])}, dirs...)
	}
	return dirs
}

// inside reports whether path is root or below it.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// watchNamed watches what leads to the paths, and the paths that are directories. report
// tells of the files there: they may be older than the watch.
func (n *notify) watchNamed(paths []string, report bool) error {
	watched := map[string]bool{}
	for _, path := range paths {
		for _, dir := range above(n.root, path) {
			if watched[dir] {
				continue
			}
			if err := n.add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("watching %s: %w", dir, err)
			}
			watched[dir] = true
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			continue // its directories are watched: it may come back
		case info.IsDir():
			if err := n.enter(path, report); err != nil {
				return err
			}
		case report:
			n.send(path)
		}
	}
	return nil
}

// appeared watches a new directory: as a part of the tree or of a named directory, and for
// the named paths in it.
func (n *notify) appeared(dir string) error {
	n.mu.Lock()
	files := n.files
	n.mu.Unlock()
	var below []string
	list := make(map[string]bool, len(files))
	for _, path := range files {
		list[path] = true
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			below = append(below, path)
		}
	}
	if list[dir] || !skipped(filepath.Base(dir)) && (entered(n.root, dir) || named(list, dir)) {
		if err := n.enter(dir, true); err != nil {
			return err
		}
	}
	return n.watchNamed(below, true)
}

// without returns what is in a and not in b.
func without(a, b []string) (rest []string) {
	set := make(map[string]bool, len(b))
	for _, path := range b {
		set[path] = true
	}
	for _, path := range a {
		if !set[path] {
			rest = append(rest, path)
		}
	}
	return rest
}
