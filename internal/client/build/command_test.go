package build_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestBuildCommandSeesBins(t *testing.T) {
	t.Parallel()
	// The nearest directory's programs win over those above it, and the PATH is last.
	dir := svctest.Files(t, files{
		"node_modules/.bin/outer":           "#!/bin/sh\necho outer",
		"node_modules/.bin/both":            "#!/bin/sh\necho wrong",
		"packages/w/node_modules/.bin/both": "#!/bin/sh\necho both",
		"packages/w/build/x":                "",
		"packages/w/w.js":                   "export default {}",
		"packages/w/wrangler.toml":          "name = \"w\"\nmain = \"w.js\"\ncompatibility_date = \"2026-11-01\"\n[build]\ncommand = \"outer && both && echo $VALUE && pwd\"\ncwd = \"build\"\n",
	})
	var out strings.Builder
	r, err := build.Bundle(t.Context(), build.Request{
		Dir: filepath.Join(dir, "packages/w"), TempDir: t.TempDir(), Output: &out, Environ: []string{"VALUE=given", "PATH=/usr/bin:/bin"},
	})
	if err != nil {
		t.Fatal(err, out.String())
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "packages/w/build"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "outer\nboth\ngiven\n" + real + "\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
	r.Remove()
}

func TestCancelEndsTheWholeBuild(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, files{
		"w.js":          "export default {}",
		"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-11-01", "build": {"command": "sleep 600 & echo $!; wait"}}`,
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := build.Bundle(ctx, build.Request{Dir: dir, TempDir: t.TempDir(), Output: in})
		done <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	// A killed process may still be waited for by init; then it is a zombie.
	svctest.Eventually(t, "the process of the build command to end", func() bool {
		return syscall.Kill(pid, 0) != nil || zombie(t, pid)
	})
}
