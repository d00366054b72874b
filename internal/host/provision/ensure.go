package provision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Stage is a part of an install.
type Stage string

// The stages, in their order. StageWaiting comes when another process is
// installing.
const (
	StageWaiting     Stage = "waiting for another install"
	StageDownloading Stage = "downloading workerd"
	StageVerifying   Stage = "verifying workerd"
	StageExtracting  Stage = "extracting workerd"
	StageInstalled   Stage = "workerd installed"
)

// stageUnpinned tells which checksum of the registry is accepted.
func stageUnpinned(pkg Package) Stage {
	return Stage("no pinned checksum for this platform: accepting " + pkg.Name + " with the registry's " + pkg.Integrity)
}

// Options say where to look.
type Options struct {
	// Explicit is a path the user set (SVC_WORKERD). When it is not empty
	// nothing else is tried.
	Explicit string
	// CacheDir is $XDG_CACHE_HOME/svcctl. The binary lives in
	// workerd/<version>/workerd below it.
	CacheDir string
	// Packaged is the directory where a package of the system has workerd, in
	// <version>/workerd; "" for none. It comes before the cache.
	Packaged string
	// Program is the path of the program that looks, "" for none. If npm installed it, the workerd
	// that npm installed with it is used, after the one of Packaged.
	Program string
	// Platform is the platform to install for, as in Release.Packages; "" is this one.
	// The binary of another platform is verified by its checksum alone.
	Platform string
	// NPM is the name or path of npm; "" is "npm".
	NPM string
	// Progress hears of the stages of an install; it may be nil.
	Progress func(Stage)
	// Release is what to find; nil is Pinned().
	Release *Release
}

// versionTimeout bounds how long a binary may take to print its version.
const versionTimeout = 20 * time.Second

// Ensure gives the absolute path of a workerd that runs here and is the
// release's, and installs it first when it must.
func Ensure(ctx context.Context, o Options) (string, error) {
	in, err := newInstaller(o)
	if err != nil {
		return "", err
	}
	if o.Explicit != "" {
		return in.explicit(ctx, o.Explicit)
	}
	if path, err := in.found(ctx); err == nil {
		return path, nil
	}
	if err := in.install(ctx); err != nil {
		return "", err
	}
	if err := in.check(ctx, in.binary); err != nil {
		return "", svc.Errorf(svc.Unavailable, svc.CodeWorkerdUnusable, "workerd was installed at %s, but it does not run here", in.binary).
			WithHint("workerd needs a Linux with glibc (not musl) or macOS 13.5; or set SVC_WORKERD to a build that runs").Because(err)
	}
	return in.binary, nil
}

// Find gives the path of an installed binary and never installs one: code
// workerd_not_installed if it is missing.
func Find(ctx context.Context, o Options) (string, error) {
	in, err := newInstaller(o)
	if err != nil {
		return "", err
	}
	if o.Explicit != "" {
		return in.explicit(ctx, o.Explicit)
	}
	path, err := in.found(ctx)
	if err != nil {
		return "", svc.Errorf(svc.NotFound, svc.CodeWorkerdNotInstalled, "workerd %s is not installed", in.release.Version).
			WithHint("run `svcctl runtime install`").Because(err)
	}
	return path, nil
}

// found returns the binary of a package, or the one in the cache.
func (in *installer) found(ctx context.Context) (string, error) {
	for _, path := range in.packaged {
		if in.check(ctx, path) == nil {
			return path, nil
		}
	}
	return in.binary, in.check(ctx, in.binary)
}

// check judges a program that was installed: it must be the one of the package.
func (in *installer) check(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("looking for workerd: %w", err)
	}
	if err := in.trust(path, info); err != nil {
		return err
	}
	return in.run(ctx, path)
}

// explicit judges the path the user set.
func (in *installer) explicit(ctx context.Context, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving SVC_WORKERD: %w", err)
	}
	var wrong wrongVersionError
	switch err := in.run(ctx, abs); {
	case err == nil:
		return abs, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return "", svc.Errorf(svc.BadRequest, svc.CodeWorkerdInvalid, "SVC_WORKERD is %s, which does not exist", abs).
			WithHint("correct the path, or unset SVC_WORKERD to have workerd installed")
	case errors.As(err, &wrong):
		return "", svc.Errorf(svc.BadRequest, svc.CodeWorkerdWrongVersion, "SVC_WORKERD is %s, which is %q", abs, string(wrong)).
			WithHint("use %s (npm version %s), or unset SVC_WORKERD to have it installed", in.release.VersionLine, in.release.Version)
	default:
		return "", svc.Errorf(svc.BadRequest, svc.CodeWorkerdInvalid, "SVC_WORKERD is %s, which is not an executable for this platform", abs).
			WithHint("correct the path, or unset SVC_WORKERD to have workerd installed").Because(err)
	}
}

// wrongVersionError is what a binary of another version printed.
type wrongVersionError string

func (e wrongVersionError) Error() string { return "the version is " + string(e) }

// run runs the binary for its version.
func (in *installer) run(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("looking for workerd: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s is not an executable file", path)
	}
	if in.foreign() {
		return nil
	}
	out, err := version(ctx, path)
	if err != nil {
		return fmt.Errorf("asking workerd for its version: %w", err)
	}
	if line := strings.TrimSpace(out); line != in.release.VersionLine {
		return wrongVersionError(line)
	}
	return nil
}

func version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, path, "--version")
		cmd.WaitDelay = versionTimeout // on a busy machine the last output comes late
		out, err := cmd.Output()
		if !errors.Is(err, syscall.ETXTBSY) {
			return string(out), err
		}
		// A process that was forked while the file was written still holds it
		// open; it goes away when that process executes its own program.
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
