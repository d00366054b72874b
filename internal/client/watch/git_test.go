package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// git works in a repository while it holds the lock of the index, in a directory of the
// repository and in a linked worktree; not with the lock of a git that was killed.
func TestGitWorks(t *testing.T) {
	t.Parallel()
	root := realDir(t)
	inner, linked := filepath.Join(root, "repo", "src"), filepath.Join(root, "linked")
	write(t, filepath.Join(inner, "a.js"), "")
	write(t, filepath.Join(linked, ".git"), "gitdir: ../repo/.git/worktrees/linked\n")
	check := func(what string, want ...bool) {
		t.Helper()
		if a, b := gitWorks(inner), gitWorks(linked); a != want[0] || b != want[1] {
			t.Errorf("%s: %v %v, want %v", what, a, b, want)
		}
	}
	check("no repository", false, false)
	write(t, filepath.Join(root, "repo/.git/HEAD"), "")
	check("at rest", false, false)
	lock := filepath.Join(root, "repo/.git/index.lock")
	write(t, lock, "")
	check("a checkout", true, false)
	write(t, filepath.Join(root, "repo/.git/worktrees/linked/index.lock"), "")
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	check("a git that was killed", false, true)
}
