package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Output is what the build of a framework writes. Such a build takes seconds and writes in
// steps: files that only its later steps read, then static files and the worker. A change
// between two steps is no state to build.
type Output struct {
	Dirs []string // with what is served
	Last []string // files in them that the last steps write; none if that is not known
}

// output is an Output and what follows from it.
type output struct {
	Output

	tops []string // hidden directories above Dirs, with what only the build reads
}

// Built says what the build of a framework writes; nothing for a project without one. What a
// build writes is one batch if its pauses are short, and waits for the files of the last steps;
// other files in the hidden directories above are no changes.
func (w *Watcher) Built(written Output) {
	o := output{Output: written}
	for _, dir := range written.Dirs {
		if top := hiddenTop(w.root, dir); top != "" && filepath.Base(top) != "node_modules" {
			o.tops = append(o.tops, top)
		}
	}
	w.mu.Lock()
	w.built = o
	w.mu.Unlock()
}

// complete reports whether the build that has written a batch seems to be over.
func (w *Watcher) complete(b *batch) bool {
	if !b.built || time.Since(b.began) >= mostOfBuilt {
		return true
	}
	w.mu.Lock()
	last, exists := w.built.Last, w.exists
	w.mu.Unlock()
	if slices.ContainsFunc(last, func(path string) bool { return !exists(path) }) {
		return false // deleted, to be written again
	}
	written := len(last) == 0 || slices.ContainsFunc(last, func(path string) bool { return b.paths[path] })
	return written || time.Since(b.latest) >= quietUnfinished
}

func onDisk(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// hiddenTop is the topmost directory on the way from root to dir that is not entered; "" if
// all are.
func hiddenTop(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	at := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if at = filepath.Join(at, name); skipped(name) {
			return at
		}
	}
	return ""
}

// has reports whether a path is among what is served.
func (o output) has(path string) bool { return anyAbove(o.Dirs, path) }

// between reports whether only a later step of the build reads a path.
func (o output) between(path string) bool { return anyAbove(o.tops, path) && !o.has(path) }

// anyAbove reports whether path is one of dirs or below it.
func anyAbove(dirs []string, path string) bool {
	for _, dir := range dirs {
		if path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
