package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// result is one part of the gate.
type result struct {
	Name string
	Took time.Duration
	Err  error
	Tail string // the end of what it printed, if it failed
}

// commands are the parts of the gate that are commands of the repository.
//
//nolint:gochecknoglobals // a constant table
var commands = map[string][]string{
	"unit": {"go", "test", "./internal/host/workerd/...", "./internal/host/provision", "./internal/client/evaluate", "./internal/client/project", "./internal/test/follow"},
	// The suite compares the answers of wrangler dev with those of this repository, both with the new workerd.
	"differential": {"make", "--no-print-directory", "differential"},
	"frameworks":   {"make", "--no-print-directory", "test-frameworks"},
}

// gate runs one part.
func gate(ctx context.Context, root, name string, after pins) result {
	began := time.Now()
	r := result{Name: name}
	var out bytes.Buffer
	if command, ok := commands[name]; ok {
		r.Err = execute(ctx, root, &out, command...)
	} else if name == "types" {
		r.Err = types(ctx, root, &out, after.Types)
	} else {
		r.Err = fmt.Errorf("there is no part %q", name)
	}
	if r.Took = time.Since(began).Round(time.Second); r.Err != nil {
		r.Tail = tail(out.String())
	}
	return r
}

func execute(ctx context.Context, dir string, out *bytes.Buffer, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.WaitDelay = time.Minute
	return cmd.Run()
}

// tail is the end of an output.
func tail(text string) string {
	const most = 40
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// types compiles what svcctl types writes for an example with a release of the types of the runtime.
func types(ctx context.Context, root string, out *bytes.Buffer, version string) error {
	dir, err := os.MkdirTemp("", "follow-types-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples/guestbook"))); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", "--save-dev", "@cloudflare/workers-types@" + version, "typescript@5"},
		{"npx", "tsc", "--noEmit"},
	} {
		if err := execute(ctx, dir, out, command...); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
		}
	}
	return nil
}

// commit makes the one commit of a green gate.
func commit(ctx context.Context, root string, r report) error {
	var out bytes.Buffer
	files := append([]string{"git", "add", "docs/reference/wrangler-dev.md", versionFile, compatFile, flagsFile, releaseFile, "bench", "scripts/frameworks/projects"}, []string{}...)
	if err := execute(ctx, root, &out, files...); err != nil {
		return fmt.Errorf("%w: %s", err, out.String())
	}
	if err := execute(ctx, root, &out, "git", "commit", "-m", r.subject(), "-m", r.body()); err != nil {
		return fmt.Errorf("%w: %s", err, out.String())
	}
	return nil
}
