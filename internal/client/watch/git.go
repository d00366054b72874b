package watch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// busyPause is how long a batch waits until the next look at a busy program.
const busyPause = 10 * time.Millisecond

// lockAge is the age of a lock that a git which was killed has left.
const lockAge = 30 * time.Second

// gitWorks reports whether git changes the files of the repository of dir: a checkout holds
// the lock of the index until its last file is written. What it has written before is no
// state to build.
func gitWorks(dir string) bool {
	info, err := os.Stat(filepath.Join(gitDir(dir), "index.lock"))
	return err == nil && time.Since(info.ModTime()) < lockAge
}

// gitDir is the directory of git for dir; outside of a repository it does not exist. That
// of a linked worktree is in a file.
func gitDir(dir string) string {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return path
			}
			return linkedDir(path)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		dir = filepath.Dir(dir)
	}
}

// linkedDir reads the file .git of a linked worktree or a submodule.
func linkedDir(path string) string {
	text, _ := os.ReadFile(path) // without it there is no lock either
	dir := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(path), dir)
	}
	return dir
}
