package watch

import (
	"os"
	"path/filepath"
	"strings"
)

// reading is what builds read. The content of a file that they do not read cannot change
// a build: a log that grows in the tree neither is a change nor delays one. That such a
// file is there, or no longer, can change a build.
type reading struct {
	files map[string]bool // and directories; nil if it is not known
	there map[string]bool // whether files that are not among them existed at their last event
}

// Read replaces the list of files and directories whose content matters; nil for all.
func (w *Watcher) Read(files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if files == nil {
		w.read.files = nil
		return
	}
	w.read.files = make(map[string]bool, len(files))
	for _, f := range files {
		w.read.files[f] = true
	}
}

// matters reports whether an event of a file can change a build.
func (r *reading) matters(path string) bool {
	if r.has(path) || configures(filepath.Base(path)) {
		return true
	}
	if ofEditor(filepath.Base(path)) {
		return false
	}
	if r.files == nil {
		return true
	}
	info, err := os.Lstat(path)
	was, known := r.there[path]
	if r.there == nil {
		r.there = map[string]bool{}
	}
	r.there[path] = err == nil
	return !known || was != (err == nil) || err == nil && info.IsDir()
}

// has reports whether the list has the file or a directory above it.
func (r *reading) has(path string) bool {
	for ; ; path = filepath.Dir(path) {
		if r.files[path] {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}

// configures reports whether builds read files of this name without telling.
func configures(name string) bool {
	return name == "package.json" || strings.HasSuffix(name, ".json") && (strings.HasPrefix(name, "tsconfig") || strings.HasPrefix(name, "jsconfig"))
}

// ofEditor reports whether editors write files of this name beside those that they edit:
// swap files, probes and backups of vim, locks, backups and drafts of Emacs, the two files
// of a safe write of JetBrains, and what the Finder keeps.
func ofEditor(name string) bool {
	switch {
	case name == "4913", name == ".DS_Store", strings.HasPrefix(name, ".#"),
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"), strings.HasPrefix(name, ".") && strings.Contains(filepath.Ext(name), ".sw"):
		return true
	}
	return strings.HasSuffix(name, "~") || strings.HasSuffix(name, "___jb_tmp___") || strings.HasSuffix(name, "___jb_old___")
}
