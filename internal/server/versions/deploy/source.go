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

// bundleKeys returns the keys of a version's bundle, in order of preference.
type bundleKeys = func(svc.Ref) [2]string

// source is a place to which bundles are uploaded.
type source interface {
	// open returns the bundle of ref and which of its keys it has, or errAbsent. The caller closes
	// it.
	open(ctx context.Context, ref svc.Ref) (body io.ReadCloser, key int, err error)
	// has reports whether it has the bundle of ref. A source that does not answer
	// reports false.
	has(ctx context.Context, ref svc.Ref) bool
}

// bucketSource is SVC_ARTIFACTS_BUCKET.
type bucketSource struct {
	bucket objstore.Bucket
	keys   bundleKeys
}

func (s bucketSource) open(ctx context.Context, ref svc.Ref) (io.ReadCloser, int, error) {
	for i, key := range s.keys(ref) {
		body, _, err := s.bucket.Get(ctx, key, 0, -1)
		if errors.Is(err, objstore.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("reading the artifacts bucket: %w", err)
		}
		return body, i, nil
	}
	return nil, 0, errAbsent
}

func (s bucketSource) has(ctx context.Context, ref svc.Ref) bool {
	for _, key := range s.keys(ref) {
		if _, err := s.bucket.Stat(ctx, key); err == nil {
			return true
		}
	}
	return false
}

// dirSource is ARTIFACTS_DIR, which the operator owns. Files appear there
// complete, by rename.
type dirSource struct {
	dir  string
	keys bundleKeys
}

func (s dirSource) open(_ context.Context, ref svc.Ref) (io.ReadCloser, int, error) {
	for i, key := range s.keys(ref) {
		f, err := os.Open(s.path(key))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("reading the artifacts directory: %w", err)
		}
		return f, i, nil
	}
	return nil, 0, errAbsent
}

func (s dirSource) has(_ context.Context, ref svc.Ref) bool {
	for _, key := range s.keys(ref) {
		if _, err := os.Stat(s.path(key)); err == nil {
			return true
		}
	}
	return false
}

func (s dirSource) path(key string) string { return filepath.Join(s.dir, filepath.FromSlash(key)) }

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
