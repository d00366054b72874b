package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/provision"
)

// stands in for the program: it says its name and arguments, and ends with 7, or waits for SIGTERM.
const stands = `#!/bin/sh
trap 'echo ended; exit 9' TERM
echo "$1 $2"
while [ "$1" = wait ]; do sleep 0.05; done
exit 7
`

// release writes what goreleaser would have written, and the packages.
func release(t *testing.T) (packages string) {
	t.Helper()
	root := t.TempDir()
	var artifacts []string
	for _, id := range []string{"svcctl", "svcctl-client"} {
		for _, platform := range []string{runtime.GOOS + " " + runtime.GOARCH, "plan9 amd64"} {
			goos, goarch, _ := strings.Cut(platform, " ")
			path := filepath.Join("dist", id+"_"+goos, "svcctl")
			write(t, filepath.Join(root, path), stands, 0o755)
			artifacts = append(artifacts, fmt.Sprintf(`{"name":"svcctl","path":%q,"goos":%q,"goarch":%q,"type":"Binary","extra":{"ID":%q}}`, path, goos, goarch, id))
		}
	}
	write(t, filepath.Join(root, "dist/metadata.json"), `{"version":"0.1.0"}`, 0o644)
	write(t, filepath.Join(root, "dist/artifacts.json"), "["+strings.Join(artifacts, ",")+"]", 0o644)
	if err := run(filepath.Join(root, "dist")); err != nil {
		t.Fatal(err)
	}
	pinned := provision.Pinned()
	workerd := pkg{manifest: newManifest(pinned.Packages[runtime.GOOS+"/"+runtime.GOARCH].Name, pinned.Version)}
	packages = filepath.Join(root, "dist", "npm")
	if err := workerd.write(packages); err != nil {
		t.Fatal(err)
	}
	return packages
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestSameBytes: the same programs give the same packages.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	one, two := release(t), release(t)
	names, err := filepath.Glob(filepath.Join(one, "*.tgz"))
	if err != nil || len(names) != 8 { // two products with two platforms, @svcctl/test, and workerd
		t.Fatal(names, err)
	}
	for _, name := range names {
		a, _ := os.ReadFile(name)
		b, err := os.ReadFile(filepath.Join(two, filepath.Base(name)))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v", filepath.Base(name), err)
		}
	}
}

// TestInstall installs both packages with npm, with and without scripts, and runs their command.
func TestInstall(t *testing.T) {
	t.Parallel()
	from := registry(t, release(t))
	for _, name := range []string{"svcctl", "@svcctl/client"} {
		for flag, linked := range map[string]bool{"--foreground-scripts": true, "--ignore-scripts": false} {
			t.Run(name+" "+flag, func(t *testing.T) {
				t.Parallel()
				command := install(t, from, name, flag)
				out, code := execute(t, command, "a path with spaces", "b")
				if out != "a path with spaces b\n" || code != 7 {
					t.Errorf("exit %d: %q", code, out)
				}
				text, err := os.ReadFile(command)
				if err != nil || (string(text) == stands) != linked {
					t.Errorf("the program in place of the script: want %t, %v", linked, err)
				}
				terminates(t, command)
			})
		}
	}
	t.Run("without the program", func(t *testing.T) {
		t.Parallel()
		out, code := execute(t, install(t, from, "@svcctl/client", "--omit=optional"), "a", "b")
		if code != 1 || !strings.Contains(out, "npm ran with --omit=optional") || !strings.Contains(out, "install again") {
			t.Errorf("exit %d: %s", code, out)
		}
	})
}

// install returns the command that npm has installed.
func install(t *testing.T, from, name, flag string) (command string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal("npm is needed: ", err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "package.json"), "{}", 0o644)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // the error then has what npm printed
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", name, flag, "--registry="+from, "--cache="+filepath.Join(dir, "cache"), "--no-audit", "--no-fund", "--no-update-notifier")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v\n%s", name, err, out)
	}
	return filepath.Join(dir, "node_modules", filepath.FromSlash(name), "svcctl.js")
}

func execute(t *testing.T, command string, args ...string) (out string, code int) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(text), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), 0
}

// terminates: SIGTERM reaches the program, and its exit code the caller.
func terminates(t *testing.T, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, "wait", "")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if lines.Scan(); lines.Text() != "wait " {
		t.Errorf("got %q", lines.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); lines.Text() != "ended" {
		t.Errorf("after SIGTERM: %q", lines.Text())
	}
	exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
	if !ok || exit.ExitCode() != 9 {
		t.Errorf("after SIGTERM: %v", exit)
	}
}
