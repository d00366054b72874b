package deploy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// bundles is the cache of unpacked bundles, {cache}/{project}/{version}/.
// Beside each stands {version}.sha256 with the digest of the object that it was
// unpacked from; it is written last, so a directory that has one is complete.
// There is at most one user of a version at a time: its job, or the boot.
type bundles struct {
	dir     string
	sources []source
	wait    time.Duration
	limits  bundle.Limits
	log     *slog.Logger

	anyDigest bool // lenient mode keeps a bundle whose digest is wrong

	mu      sync.Mutex
	waiting map[svc.Ref]chan struct{}
}

// unpacked is one bundle on disk.
type unpacked struct {
	dir    string
	digest string // "sha256:<hex>" of the object
	size   int64  // of the object
}

func newBundles(d Deps) *bundles {
	b := &bundles{
		dir: d.Dirs.Cache, wait: d.ArtifactWait, limits: d.Limits, log: d.Logger, anyDigest: d.Lenient,
		waiting: map[svc.Ref]chan struct{}{},
	}
	if d.ArtifactsDir != "" { // looked at first [D43]
		b.sources = append(b.sources, dirSource{d.ArtifactsDir})
	}
	b.sources = append(b.sources, bucketSource{d.Artifacts})
	return b
}

// ensure gives the bundle of v, fetched if it is not in the cache. When the
// object's digest is not the one v was created with, mismatch decides.
func (b *bundles) ensure(ctx context.Context, v svc.Version, p patience, mismatch func(error) error) (unpacked, error) {
	known := v.Digest
	if b.anyDigest {
		known = ""
	}
	if u, ok := b.cached(v.Ref, known); ok {
		return u, nil
	}
	if err := os.MkdirAll(filepath.Join(b.dir, v.Project), dirMode); err != nil {
		return unpacked{}, fmt.Errorf("making room for the bundle: %w", err)
	}
	got, err := b.download(ctx, v.Ref, p)
	if err != nil {
		return unpacked{}, err
	}
	failpoint.Hit("deploy/bundle/saved")
	defer os.Remove(got.file)
	if v.Digest != "" && got.digest != v.Digest {
		if err := mismatch(mismatched(v.Digest, got.digest)); err != nil {
			return unpacked{}, err
		}
	}
	return b.unpack(ctx, v.Ref, got)
}

func mismatched(want, got string) error {
	return svc.Errorf(svc.Unprocessable, "digest_mismatch", "the bundle has the digest %s; the version was created with %s", got, want).
		WithHint("upload the bundle that belongs to the version, under a new version id")
}

func (b *bundles) unpack(ctx context.Context, ref svc.Ref, got download) (unpacked, error) {
	u := unpacked{dir: b.path(ref), digest: got.digest, size: got.size}
	if err := os.Remove(b.mark(ref)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unpacked{}, fmt.Errorf("replacing the unpacked bundle: %w", err)
	}
	if _, err := bundle.Extract(ctx, got.file, u.dir, b.limits); err != nil {
		return unpacked{}, err
	}
	failpoint.Hit("deploy/bundle/extracted")
	if err := b.writeMark(ref, u); err != nil {
		return unpacked{}, fmt.Errorf("marking the unpacked bundle: %w", err)
	}
	return u, nil
}

// cached finds a complete directory; a digest of "" accepts any.
func (b *bundles) cached(ref svc.Ref, digest string) (unpacked, bool) {
	u := unpacked{dir: b.path(ref)}
	text, err := os.ReadFile(b.mark(ref))
	if err != nil {
		return unpacked{}, false
	}
	if n, err := fmt.Sscanf(string(text), markFormat, &u.digest, &u.size); n != 2 || err != nil {
		return unpacked{}, false
	}
	info, err := os.Stat(u.dir)
	if err != nil || !info.IsDir() || digest != "" && digest != u.digest {
		return unpacked{}, false
	}
	return u, true
}

const markFormat = "%s %d\n"

// writeMark writes the mark atomically. It is not synced: after a power cut
// without it the bundle is fetched again.
func (b *bundles) writeMark(ref svc.Ref, u unpacked) error {
	tmp := b.mark(ref) + ".tmp"
	if err := os.WriteFile(tmp, fmt.Appendf(nil, markFormat, u.digest, u.size), fileMode); err != nil {
		return err
	}
	return os.Rename(tmp, b.mark(ref))
}

// remove forgets the unpacked bundle of a version; the mark goes first.
func (b *bundles) remove(ref svc.Ref) error {
	if err := os.RemoveAll(b.mark(ref)); err != nil {
		return err
	}
	return os.RemoveAll(b.path(ref))
}

// Ids have no dots [D1], so these names never meet a version's directory.
func (b *bundles) path(ref svc.Ref) string   { return filepath.Join(b.dir, ref.Project, ref.Version) }
func (b *bundles) mark(ref svc.Ref) string   { return b.path(ref) + ".sha256" }
func (b *bundles) object(ref svc.Ref) string { return b.path(ref) + ".bundle" }
