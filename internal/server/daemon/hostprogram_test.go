package daemon

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestSameBuild(t *testing.T) {
	t.Parallel()
	build := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "github.com/svcctl/svcctl", Version: version}}
	}
	for _, tc := range []struct {
		ours, theirs string
		same         bool
	}{
		{"v1.2.3", "v1.2.3", true},
		{"v1.2.4-0.20261123012345-0123456789ab", "v1.2.4-0.20261123012345-0123456789ab", true},
		{"v1.2.3", "v1.2.4", false},
		{"v1.2.3+dirty", "v1.2.3+dirty", false},
		{"(devel)", "(devel)", false},
		{"", "", false},
	} {
		if err := sameBuild(build(tc.ours), build(tc.theirs)); (err == nil) != tc.same {
			t.Errorf("%q and %q: %v", tc.ours, tc.theirs, err)
		}
	}
	other := build("v1.2.3")
	other.Main.Path = "example.com/other"
	if sameBuild(build("v1.2.3"), other) == nil || sameBuild(nil, build("v1.2.3")) == nil {
		t.Error("another program is of the same build")
	}
}

// TestOpenProgram: without a program, or with one that is not ours, the server has another way.
func TestOpenProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := openProgram(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openProgram(script); err == nil {
		t.Error("a script is a worker host")
	}
}

// TestKeep: a program that was replaced while the server runs is still executed.
func TestKeep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.Symlink("/bin/sh", path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := keep(f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := errors.Join(os.Remove(path), os.Symlink("/bin/false", path)); err != nil {
		t.Fatal(err)
	}
	if err := exec.CommandContext(t.Context(), p.path, "-c", "true").Run(); err != nil {
		t.Error(err)
	}
}
