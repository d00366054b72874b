package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// write writes a file as a command does that a person gave its name.
func write(path, text string, perm os.FileMode) error {
	f, err := atomicfile.Create(path, perm)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, text); err != nil {
		f.Abort()
		return err
	}
	return f.Commit()
}

// alone fails the test if dir has other files than names.
func alone(t *testing.T, dir string, names int) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != names {
		t.Errorf("entries: %v, %v; want %d", entries, err, names)
	}
}

// A plain file keeps its mode, and a link stays a link to it.
func TestCreateKeepsModeAndLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	far := t.TempDir()
	real, link, chain := filepath.Join(far, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "chain")
	if err := errors.Join(os.WriteFile(real, []byte("old content"), 0o600), os.Chmod(real, 0o664), os.Symlink(real, link), os.Symlink("link", chain)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{real, link, chain} {
		if err := write(path, path, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(real)
		if text, _ := os.ReadFile(real); string(text) != path || err != nil || info.Mode() != 0o664 {
			t.Errorf("after %s: %q, %v, %v", path, text, info.Mode(), err)
		}
	}
	for _, path := range []string{link, chain} {
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", path, info, err)
		}
	}
	alone(t, dir, 2)
	alone(t, far, 1)
}

// A link to a file that does not exist leads to the new file.
func TestCreateThroughDanglingLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("new", link); err != nil {
		t.Fatal(err)
	}
	if err := write(link, "x", 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "new")); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	alone(t, dir, 2)
}

// A pipe and a device are written to, and stay what they are.
func TestCreateWritesIntoPipesAndDevices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link} {
		got := make(chan string, 1)
		go func() {
			text, _ := os.ReadFile(pipe)
			got <- string(text)
		}()
		if err := write(path, "through", 0o600); err != nil {
			t.Fatal(err)
		}
		if text := <-got; text != "through" {
			t.Errorf("%s: the reader got %q", path, text)
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe: %v, %v", info, err)
	}
	if err := write("/dev/full", "x", 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a device that is full: %v", err)
	}
	alone(t, dir, 2)
}

// A write that fails leaves the old content, and nothing beside it.
func TestAbort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "note")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(f, "half")
	f.Abort()
	if text, err := os.ReadFile(path); string(text) != "old" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	alone(t, dir, 1)
	if _, err := atomicfile.Create(dir, 0o600); err == nil {
		t.Error("a directory was opened to be written")
	}
}
