package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const top = "../.."

// TestCommitted fails when a committed file is not what the program writes:
// run make generate.
func TestCommitted(t *testing.T) {
	t.Parallel()
	all := all(t)
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale: run make generate (-generated +committed):\n%s", name, diff)
		}
	}
	for _, dir := range owned() {
		for _, path := range glob(t, filepath.Join(top, dir, "*")) {
			if _, ok := all[dir+"/"+filepath.Base(path)]; !ok {
				t.Errorf("%s/%s is not generated", dir, filepath.Base(path))
			}
		}
	}
}

// TestDeterministic fails for output that depends on the run: a date, the order
// of a map, the environment.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(all(t), all(t)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

func TestStaleFilesGo(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	stale := filepath.Join(root, "docs/man/svcctl-gone.1")
	kept := filepath.Join(root, "docs/adr.md")
	for _, path := range []string{stale, kept} {
		if err := write(path, []byte("old")); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(os.DirFS(top), root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the stale page is still there: %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// TestUndated holds the trick by which manual pages lose their date.
func TestUndated(t *testing.T) {
	t.Parallel()
	for name, page := range all(t) {
		if filepath.Ext(name) == ".1" && bytes.Contains(page, []byte("0001")) {
			t.Errorf("%s names a day", name)
		}
	}
}

func all(t *testing.T) files {
	t.Helper()
	all, err := generate(os.DirFS(top))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
