package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// bundles is the cache of unpacked bundles, {cache}/{project}/{version}/. The file
// {version}.sha256 beside a directory holds the digest of the object that was
// unpacked; it is written last, so a directory with one is complete. Callers of
// one version must hold its lock in Service.locks.
type bundles struct {
	dir     string
	sources []source
	keys    bundleKeys
	limits  bundle.Limits
	assets  Assets
	extract func(ctx context.Context, file, dir string, limits bundle.Limits, fill bundle.Fill) (bundle.Manifest, error)

	anyDigest bool // lenient mode: keep a bundle whose digest is wrong

	checks chan struct{} // of maxChecks

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
		dir: d.Dirs.Cache, keys: d.BundleKeys, limits: d.Limits, assets: d.Assets, extract: bundle.ExtractWith, anyDigest: d.Lenient,
		waiting: map[svc.Ref]chan struct{}{}, checks: make(chan struct{}, maxChecks),
	}
	if d.NoSync {
		b.extract = bundle.ExtractNoSync
	}
	if d.ArtifactsDir != "" { // before the bucket [D43]
		b.sources = append(b.sources, dirSource{d.ArtifactsDir, d.BundleKeys})
	}
	b.sources = append(b.sources, bucketSource{d.Artifacts, d.BundleKeys})
	return b
}

// ensure returns the bundle of v and fetches it if it is not in the cache. If the
// object does not have the digest that v was created with, ensure returns the
// result of mismatch, unless that is nil.
func (b *bundles) ensure(ctx context.Context, v svc.Version, mismatch func(error) error) (unpacked, error) {
	known := v.Digest
	if b.anyDigest {
		known = ""
	}
	if u, ok := b.cached(v.Ref, known); ok {
		return u, nil
	}
	if err := os.MkdirAll(filepath.Join(b.dir, v.Project), dirMode); err != nil {
		return unpacked{}, fmt.Errorf("creating the bundle cache: %w", err)
	}
	got, err := b.download(ctx, v.Ref)
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
	return b.unpack(ctx, v, got)
}

func mismatched(want, got string) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeDigestMismatch, "the bundle has the digest %s; the version was created with %s", got, want).
		WithHint("create a new version and upload its bundle")
}

func (b *bundles) unpack(ctx context.Context, v svc.Version, got download) (unpacked, error) {
	ref := v.Ref
	u := unpacked{dir: b.path(ref), digest: got.digest, size: got.size}
	if err := os.Remove(b.mark(ref)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unpacked{}, fmt.Errorf("replacing the unpacked bundle: %w", err)
	}
	fill := func(ctx context.Context, m bundle.Manifest, dir string) error {
		return later(b.assets.Fill(ctx, ref, m, dir))
	}
	if _, err := b.extract(ctx, got.file, u.dir, b.limits, fill); err != nil {
		return unpacked{}, err
	}
	if v.ReleasedFrom != "" { // only releases keep files
		if err := later(b.assets.FillKept(ctx, ref, u.dir)); err != nil {
			return unpacked{}, err
		}
	}
	failpoint.Hit("deploy/bundle/extracted")
	if err := b.writeMark(ref, u); err != nil {
		return unpacked{}, fmt.Errorf("writing the mark of the unpacked bundle: %w", err)
	}
	return u, nil
}

// later marks the error of an object store that may answer later.
func later(err error) error {
	if svc.CodeOf(err) == svc.CodeArtifactUnreadable {
		return &laterError{err}
	}
	return err
}

// cached returns the complete directory of ref; a digest of "" accepts any.
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

// writeMark writes the mark atomically, without fsync: if a power failure loses
// the mark, the bundle is fetched again.
func (b *bundles) writeMark(ref svc.Ref, u unpacked) error {
	return atomicfile.Replace(b.mark(ref), fmt.Appendf(nil, markFormat, u.digest, u.size), fileMode)
}

// remove deletes the unpacked bundle of a version, its mark first, and the assets that no
// other version has.
func (b *bundles) remove(ctx context.Context, ref svc.Ref) error {
	if err := os.RemoveAll(b.mark(ref)); err != nil {
		return err
	}
	if err := os.RemoveAll(b.path(ref)); err != nil {
		return err
	}
	return b.assets.Prune(ctx, ref.Project)
}

// sourceMaps is the directory of source maps in an unpacked bundle.
const sourceMaps = "sourcemaps"

// removeFailed is remove for a version that failed: the source maps stay until the version is destroyed,
// for the places in its error.
func (b *bundles) removeFailed(ctx context.Context, ref svc.Ref) error {
	entries, err := os.ReadDir(filepath.Join(b.path(ref), sourceMaps))
	if err != nil || len(entries) == 0 {
		return b.remove(ctx, ref)
	}
	if err := os.RemoveAll(b.mark(ref)); err != nil {
		return err
	}
	entries, err = os.ReadDir(b.path(ref))
	for _, e := range entries {
		if e.Name() != sourceMaps {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.path(ref), e.Name())))
		}
	}
	return errors.Join(err, b.assets.Prune(ctx, ref.Project))
}

// Ids have no dots [D1], so these names cannot equal a version's directory.
func (b *bundles) path(ref svc.Ref) string   { return filepath.Join(b.dir, ref.Project, ref.Version) }
func (b *bundles) mark(ref svc.Ref) string   { return b.path(ref) + ".sha256" }
func (b *bundles) object(ref svc.Ref) string { return b.path(ref) + ".bundle" }
