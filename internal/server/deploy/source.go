package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// errAbsent: the source has no bundle for the version.
var errAbsent = errors.New("no bundle")

// names returns the possible names of a bundle's object, in order of preference
// [D40].
func names() [2]string { return [2]string{"bundle.tar.zst", "bundle.tar.gz"} }

func objectKey(ref svc.Ref, name string) string { return ref.Project + "/" + ref.Version + "/" + name }

// source is a place to which bundles are uploaded.
type source interface {
	// open returns the bundle of ref, or errAbsent. The caller closes it.
	open(ctx context.Context, ref svc.Ref) (io.ReadCloser, error)
	// has reports whether it has the bundle of ref. A source that does not answer
	// reports false.
	has(ctx context.Context, ref svc.Ref) bool
}

// bucketSource is SVC_ARTIFACTS_BUCKET.
type bucketSource struct{ bucket objstore.Bucket }

func (s bucketSource) open(ctx context.Context, ref svc.Ref) (io.ReadCloser, error) {
	for _, name := range names() {
		body, _, err := s.bucket.Get(ctx, objectKey(ref, name), 0, -1)
		if errors.Is(err, objstore.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the artifacts bucket: %w", err)
		}
		return body, nil
	}
	return nil, errAbsent
}

func (s bucketSource) has(ctx context.Context, ref svc.Ref) bool {
	for _, name := range names() {
		if _, err := s.bucket.Stat(ctx, objectKey(ref, name)); err == nil {
			return true
		}
	}
	return false
}

// dirSource is ARTIFACTS_DIR, which the operator owns. Files appear there
// complete, by rename.
type dirSource struct{ dir string }

func (s dirSource) open(_ context.Context, ref svc.Ref) (io.ReadCloser, error) {
	for _, name := range names() {
		f, err := os.Open(s.path(ref, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the artifacts directory: %w", err)
		}
		return f, nil
	}
	return nil, errAbsent
}

func (s dirSource) has(_ context.Context, ref svc.Ref) bool {
	for _, name := range names() {
		if _, err := os.Stat(s.path(ref, name)); err == nil {
			return true
		}
	}
	return false
}

func (s dirSource) path(ref svc.Ref, name string) string {
	return filepath.Join(s.dir, ref.Project, ref.Version, name)
}

// sourceReader keeps the error of the source, to distinguish it from an error of
// the destination.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
