package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "note")
	for _, content := range []string{"a long first content", "short"} {
		if err := atomicfile.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("content %q, %v; want %q", got, err, content)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("entries: %v, %v; want the file alone", entries, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v", info, err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "note")
	for _, content := range []string{"a long first content", "short"} {
		if err := atomicfile.Replace(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("content %q, %v; want %q", got, err, content)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("entries: %v, %v; want the file alone", entries, err)
	}
	if err := atomicfile.Replace(filepath.Join(dir, "missing", "note"), nil, 0o600); !os.IsNotExist(err) {
		t.Errorf("Replace in a missing directory: %v", err)
	}
}

// A reader sees one of the contents, never a part of one.
func TestWriteFileConcurrently(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "note")
	contents := map[string]bool{"first": true, "second content": true}
	errs := make(chan error)
	for content := range contents {
		go func() {
			for range 50 {
				if err := atomicfile.WriteFile(path, []byte(content), 0o600); err != nil {
					errs <- err
					return
				}
				if got, err := os.ReadFile(path); err != nil || !contents[string(got)] {
					t.Errorf("content %q, %v", got, err)
				}
			}
			errs <- nil
		}()
	}
	for range contents {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if err := atomicfile.SyncDir(missing); !os.IsNotExist(err) {
		t.Errorf("SyncDir: %v", err)
	}
	if err := atomicfile.WriteFile(filepath.Join(missing, "note"), nil, 0o600); !os.IsNotExist(err) {
		t.Errorf("WriteFile: %v", err)
	}
}
