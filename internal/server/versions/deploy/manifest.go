package deploy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Manifest returns the manifest of a version's bundle: from the cache or, for example of
// an archived version, from the artifacts bucket.
//
// Errors: Gone, version_destroyed; NotFound, also artifact_missing if the bundle has not
// arrived; Unavailable, artifact_unreadable; what is wrong with the bundle of a version
// that failed.
func (s *Service) Manifest(ctx context.Context, ref svc.Ref) (bundle.Manifest, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err != nil {
		return bundle.Manifest{}, err
	}
	if v.Status == svc.StatusDestroyed {
		return bundle.Manifest{}, svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", ref)
	}
	if u, ok := s.bundles.cached(ref, v.Digest); ok {
		m, err := bundle.Load(u.dir)
		if !errors.Is(err, fs.ErrNotExist) { // it is being archived
			return m, err
		}
	}
	return s.bundles.manifest(ctx, ref)
}

// manifest reads the manifest of the object.
func (b *bundles) manifest(ctx context.Context, ref svc.Ref) (bundle.Manifest, error) {
	for _, src := range b.sources {
		body, _, err := src.open(ctx, ref)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return bundle.Manifest{}, svc.Errorf(svc.Unavailable, svc.CodeArtifactUnreadable, "the bundle of %s cannot be read", ref).Because(err)
		}
		defer body.Close()
		return bundle.ReadManifest(ctx, body, b.limits)
	}
	return bundle.Manifest{}, svc.Errorf(svc.NotFound, svc.CodeArtifactMissing, "the bundle of %s has not arrived", ref).
		WithHint("upload the bundle")
}

// compatibleMark is a line of a migration with which code works that does not know the migration.
const compatibleMark = "-- svcctl: compatible"

// Migrations returns the migrations in the bundle of a version, as "<binding>/<name>", and which of
// them have the line "-- svcctl: compatible". Errors: those of Manifest.
func (s *Service) Migrations(ctx context.Context, ref svc.Ref) (compatible map[string]bool, err error) {
	m, err := s.Manifest(ctx, ref)
	if err != nil {
		return nil, err
	}
	compatible = map[string]bool{}
	for _, of := range m.Migrations {
		for _, f := range of.Files {
			compatible[of.Binding+"/"+path.Base(f.Path)] = s.isCompatible(ref, f.Path)
		}
	}
	return compatible, nil
}

// isCompatible looks into the unpacked bundle; a migration that is not there is not compatible.
func (s *Service) isCompatible(ref svc.Ref, file string) bool {
	text, err := os.ReadFile(filepath.Join(s.bundles.path(ref), filepath.FromSlash(file)))
	if err != nil {
		return false
	}
	return slices.Contains(strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), compatibleMark)
}
