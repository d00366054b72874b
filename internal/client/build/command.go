package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
)

// killAfter is how long a build command has to end once it was asked to.
const killAfter = 5 * time.Second

// prebuild runs the project's own build step, if it has one.
func (req Request) prebuild(ctx context.Context, f *project.File) error {
	run := func() error { return req.buildCommand(ctx, f) }
	switch {
	case f.Build.Command == "":
		return nil
	case req.Command != nil:
		return req.Command(f, run)
	}
	return run()
}

// buildCommand runs the build command, with the programs of the project's npm packages on the PATH.
func (req Request) buildCommand(ctx context.Context, f *project.File) error {
	req.stage("build command")
	cmd := exec.CommandContext(ctx, "sh", "-c", f.Build.Command)
	cmd.Dir = f.Build.Dir
	cmd.Env = WithBins(req.Environ, f.Build.Dir)
	out := req.Output
	if out == nil {
		out = io.Discard
	}
	cmd.Stdout, cmd.Stderr = out, out
	// The command is a tree of processes; all of them end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	err := cmd.Run()
	left := errors.Is(err, exec.ErrWaitDelay) // it ended well and left processes behind
	if cmd.Process != nil && (left || ctx.Err() != nil) {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("running the build command: %w", ctx.Err())
	}
	if err != nil && !left {
		return commandError(f.Build, err)
	}
	return nil
}

// notFound is the exit code of a shell that does not find a command.
const notFound = 127

func commandError(b project.Build, err error) error {
	why := "could not be run"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		why = "ended with " + exit.String()
	}
	hint := "its output tells more"
	if exit != nil && exit.ExitCode() == notFound {
		hint = "the shell did not find a command; run the package manager of the project first (npm install)"
	}
	e := svc.Errorf(svc.Unprocessable, svc.CodeBuildCommandFailed, "the build command %q %s", b.Command, why).
		WithHint("it was run in %s; %s", b.Dir, hint)
	if exit == nil {
		return e.Because(err)
	}
	return e
}

// WithBins returns an environment without tokens, and puts the node_modules/.bin of dir and of the directories above it in
// front of its PATH, as npm does.
func WithBins(environ []string, dir string) []string {
	if environ == nil {
		environ = os.Environ()
	}
	var bins []string
	for at := dir; ; at = filepath.Dir(at) {
		bins = append(bins, filepath.Join(at, "node_modules", ".bin"))
		if at == filepath.Dir(at) {
			break
		}
	}
	env := withoutTokens(environ)
	path := strings.Join(bins, string(os.PathListSeparator))
	for i, entry := range env {
		if old, ok := strings.CutPrefix(entry, "PATH="); ok {
			env[i] = "PATH=" + path + string(os.PathListSeparator) + old
			return env
		}
	}
	return append(env, "PATH="+path)
}

// checkEntry says what is wrong with the entry module before the bundler says
// it in its own words.
func checkEntry(f *project.File) error {
	if f.Functions != "" {
		return nil // the entry module is generated
	}
	info, err := os.Stat(f.Main)
	shown := f.Main
	if rel, relErr := filepath.Rel(f.Dir, f.Main); relErr == nil {
		shown = rel
	}
	switch {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil:
		return noEntry(shown, "is not a file").WithHint("set main to the worker's entry module, such as src/index.ts")
	case f.Build.Command != "":
		return noEntry(shown, "does not exist after the build command").WithHint("let main name the file that the build makes")
	}
	return noEntry(shown, "does not exist").WithHint("%s", project.BuildHint(f.Dir, f.Main))
}

// noEntry is the error of a project whose main names a path that is no entry module, with the reason.
func noEntry(main, reason string) *svc.Error {
	return svc.Errorf(svc.Unprocessable, svc.CodeEntryMissing, "main names %s, which %s", main, reason)
}
