package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestFile: one file holds a copy; one that is cut anywhere, and any other file, is refused and
// never replaced.
func TestFile(t *testing.T) {
	t.Parallel()
	dir, b := t.TempDir(), &memstore.Bucket{}
	l, err := backup.Open(t.Context(), b, "n1", key, false)
	must(t, err)
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "a.db"), sqlite.Options{})
	must(t, err)
	defer db.Close()
	exec(t, db, "CREATE TABLE t (x TEXT)")
	database := snapshot(t, db)
	_, err = l.Append(t.Context(), database, map[string][]byte{"secrets.json": []byte("{}")}, time.Now())
	must(t, err)
	path := filepath.Join(dir, "a.backup")
	for range 2 { // the second replaces the first
		_, err = backup.WriteFile(t.Context(), path, b)
		must(t, err)
	}
	stored, err := backup.ReadFile(t.Context(), path)
	must(t, err)
	state, err := backup.Read(t.Context(), stored, "n1", key)
	must(t, err)
	if !bytes.Equal(state.Database, database) || string(state.Files["secrets.json"]) != "{}" {
		t.Error("the file has another registry")
	}
	whole, err := os.ReadFile(path)
	must(t, err)
	for _, content := range [][]byte{nil, []byte("a letter"), whole[:100], whole[:600]} {
		other := filepath.Join(dir, "other")
		must(t, os.WriteFile(other, content, 0o600))
		if _, err := backup.ReadFile(t.Context(), other); svc.CodeOf(err) != svc.CodeCopyMissing {
			t.Errorf("%d bytes: %v", len(content), err)
		}
		if _, err := backup.WriteFile(t.Context(), other, b); svc.CodeOf(err) != svc.CodeCopyMissing {
			t.Errorf("replace %d bytes: %v", len(content), err)
		}
		if got, err := os.ReadFile(other); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes were replaced by %d, %v", len(content), len(got), err)
		}
	}
}

// A backup that is named by a link replaces the file, and keeps its mode. A pipe is refused.
func TestFileBehindLink(t *testing.T) {
	t.Parallel()
	dir, b := t.TempDir(), &memstore.Bucket{}
	l, err := backup.Open(t.Context(), b, "n1", key, false)
	must(t, err)
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "a.db"), sqlite.Options{})
	must(t, err)
	defer db.Close()
	exec(t, db, "CREATE TABLE t (x TEXT)")
	_, err = l.Append(t.Context(), snapshot(t, db), nil, time.Now())
	must(t, err)
	path, link, pipe := filepath.Join(dir, "real"), filepath.Join(dir, "a.backup"), filepath.Join(dir, "pipe.backup")
	must(t, os.Symlink(path, link))
	must(t, syscall.Mkfifo(pipe, 0o600))
	_, err = backup.WriteFile(t.Context(), link, b)
	must(t, err)
	must(t, os.Chmod(path, 0o640))
	_, err = backup.WriteFile(t.Context(), link, b)
	must(t, err)
	info, err := os.Lstat(path)
	if at, _ := os.Readlink(link); err != nil || info.Mode() != 0o640 || at != path {
		t.Errorf("%v, %v, the link leads to %q", info, err, at)
	}
	if _, err := backup.WriteFile(t.Context(), pipe, b); svc.CodeOf(err) != svc.CodeCopyMissing {
		t.Errorf("a pipe: %v", err)
	}
}
