package archtest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// tests matches the packages that a command of the documentation tests.
var tests = regexp.MustCompile(`\./(internal(?:/[a-z0-9]+)+)(/\.\.\.)?`)

// TestMacList fails for each package with code for other systems than Linux that the table "macOS"
// of install.md does not have tested, and for each package of the table without a test.
func TestMacList(t *testing.T) {
	t.Parallel()
	fsys := os.DirFS("../../..")
	guide, err := fs.ReadFile(fsys, "docs/guide/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## macOS\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := tests.FindAllStringSubmatch(section, -1)
	if len(listed) == 0 {
		t.Fatal("install.md has no commands below macOS")
	}
	for _, m := range listed {
		if found, err := fs.Glob(fsys, m[1]+"/*_test.go"); m[2] == "" && len(found) == 0 {
			t.Errorf("install.md: %s has no tests, %v", m[1], err)
		}
	}
	for file := range fallbacks(t, fsys) {
		if !isListed(listed, path.Dir(file)) {
			t.Errorf("%s: the table below macOS in docs/guide/install.md does not test %s", file, path.Dir(file))
		}
	}
}

// isListed reports whether dir, or a directory above it with "/...", is in the table.
func isListed(listed [][]string, dir string) bool {
	for _, m := range listed {
		if dir == m[1] || m[2] != "" && strings.HasPrefix(dir, m[1]+"/") {
			return true
		}
	}
	return false
}

// fallbacks are the files of the programs that are not built on Linux.
func fallbacks(t *testing.T, fsys fs.FS) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	err := fs.WalkDir(fsys, "internal", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(fsys, p)
		case path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.HasPrefix(p, "internal/client/walkthrough/"):
			return nil // walkthrough makes the documentation
		}
		text, err := fs.ReadFile(fsys, p)
		if bytes.Contains(text, []byte("\n//go:build !linux")) || bytes.HasPrefix(text, []byte("//go:build !linux")) {
			files[p] = true
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files for other systems, %v", len(files), err)
	}
	return files
}
