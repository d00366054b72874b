package provision

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/svc"
)

// tempPrefix begins the names of what an install leaves when it is killed.
const tempPrefix = ".install-"

type installer struct {
	release  Release
	platform string
	npm      string
	packaged []string
	dir      string // of the binary
	binary   string
	progress func(Stage)
}

func newInstaller(o Options) (*installer, error) {
	in := &installer{release: Pinned(), platform: cmp.Or(o.Platform, thisPlatform), npm: o.NPM, progress: o.Progress}
	if o.Release != nil {
		in.release = *o.Release
	}
	in.npm = cmp.Or(in.npm, "npm")
	if in.progress == nil {
		in.progress = func(Stage) {}
	}
	if o.CacheDir == "" && o.Explicit == "" {
		return nil, errors.New("provision: no cache directory")
	}
	cache, err := filepath.Abs(o.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("resolving the cache directory: %w", err)
	}
	in.dir = filepath.Join(cache, "workerd", in.release.Version)
	in.binary = filepath.Join(in.dir, "workerd")
	if o.Packaged != "" {
		in.packaged = append(in.packaged, filepath.Join(o.Packaged, in.release.Version, "workerd"))
	}
	in.packaged = append(in.packaged, in.ofNPM(o.Program)...)
	return in, nil
}

// foreign tells whether the binary cannot run on this machine.
func (in *installer) foreign() bool { return in.platform != thisPlatform }

// install puts the binary into the cache, or waits until another process has.
func (in *installer) install(ctx context.Context) error {
	pkg, err := in.release.pkg(in.platform)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(in.dir, 0o755); err != nil { //nolint:gosec // nothing secret: like npm's own cache
		return in.failed("the cache directory cannot be made", err)
	}
	unlock, err := in.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if in.check(ctx, in.binary) == nil {
		return nil // another process was first
	}
	npm, err := exec.LookPath(in.npm)
	if err != nil {
		return svc.Errorf(svc.Unavailable, svc.CodeWorkerdNPMMissing, "workerd %s is not installed, and there is no npm to install it with", in.release.Version).
			WithHint("install Node.js with npm and try again; or get workerd %s yourself and set SVC_WORKERD to its path", in.release.Version).
			Because(err)
	}
	if err := in.removeLeftovers(); err != nil {
		return in.failed("an earlier install cannot be cleared away", err)
	}
	temp, err := os.MkdirTemp(in.dir, tempPrefix)
	if err != nil {
		return in.failed("the cache directory cannot be written", err)
	}
	err = in.installIn(ctx, temp, npm, pkg)
	if rmErr := os.RemoveAll(temp); err == nil && rmErr != nil {
		err = in.failed("the cache directory cannot be tidied", rmErr)
	}
	return err
}

func (in *installer) installIn(ctx context.Context, temp, npm string, pkg Package) error {
	in.progress(StageDownloading)
	tarball, err := in.download(ctx, temp, npm, pkg)
	if err != nil {
		return err
	}
	in.progress(StageVerifying)
	unpinned := pkg.Integrity == ""
	if unpinned {
		if pkg.Integrity, err = in.ofRegistry(ctx, temp, npm, pkg); err != nil {
			return err
		}
	}
	if err := verify(tarball, pkg); err != nil {
		return err
	}
	if unpinned {
		err = in.record(pkg)
	}
	if err != nil {
		return in.failed("the checksum cannot be recorded", err)
	}
	in.progress(StageExtracting)
	binary := filepath.Join(temp, "workerd")
	if err := extract(ctx, tarball, binary); err != nil {
		return in.failed("the package cannot be extracted", err)
	}
	if err := os.Rename(binary, in.binary); err != nil {
		return in.failed("the cache directory cannot be written", err)
	}
	if err := atomicfile.SyncDir(in.dir); err != nil {
		return in.failed("the cache directory cannot be written", err)
	}
	in.progress(StageInstalled)
	return nil
}

// lock takes the lock of all installs of this version. The file stays.
func (in *installer) lock(ctx context.Context) (unlock func(), err error) {
	l := flock.New(in.dir + ".lock")
	held, err := l.TryLock()
	if err == nil && !held {
		in.progress(StageWaiting)
		_, err = l.TryLockContext(ctx, 50*time.Millisecond)
	}
	if err != nil {
		return nil, in.failed("the install lock cannot be had", err)
	}
	return func() { _ = l.Unlock() }, nil // closing it cannot lose anything
}

func (in *installer) removeLeftovers() error {
	entries, err := os.ReadDir(in.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(in.dir, e.Name())))
		}
	}
	return err
}

// download has npm fetch the tarball into temp and gives its path.
func (in *installer) download(ctx context.Context, temp, npm string, pkg Package) (string, error) {
	spec := pkg.Name + "@" + in.release.Version
	cmd := exec.CommandContext(ctx, npm, "pack", spec, "--ignore-scripts", "--loglevel=error")
	cmd.Dir = temp
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", in.failed("npm could not fetch "+spec, fmt.Errorf("%w: %s", err, firstLines(said.String())))
	}
	found, err := filepath.Glob(filepath.Join(temp, "*.tgz"))
	if err != nil || len(found) != 1 {
		return "", in.failed("npm fetched no package for "+spec, err)
	}
	return found[0], nil
}

// firstLines is what npm says first, which names the cause.
func firstLines(s string) string {
	const most = 4
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[:min(len(lines), most)], "; ")
}

func (in *installer) failed(what string, err error) error {
	return svc.Errorf(svc.Unavailable, svc.CodeWorkerdInstallFailed, "workerd %s was not installed: %s", in.release.Version, what).
		WithHint("try again, or get workerd %s yourself and set SVC_WORKERD to its path", in.release.Version).Because(err)
}
