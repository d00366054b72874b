package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// errAbsent: the source has no bundle for the version.
var errAbsent = errors.New("no bundle")

// names is how a bundle's object may be called, the first one first [D40].
func names() [2]string { return [2]string{"bundle.tar.zst", "bundle.tar.gz"} }

func objectKey(ref svc.Ref, name string) string { return ref.Project + "/" + ref.Version + "/" + name }

// source is a place where bundles are uploaded to.
type source interface {
	// open gives the bundle of ref, or errAbsent. The caller closes it.
	open(ctx context.Context, ref svc.Ref) (io.ReadCloser, error)
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

// dirSource is ARTIFACTS_DIR, the operator's own directory. Whoever writes
// there renames complete files into place.
type dirSource struct{ dir string }

func (s dirSource) open(_ context.Context, ref svc.Ref) (io.ReadCloser, error) {
	for _, name := range names() {
		f, err := os.Open(filepath.Join(s.dir, ref.Project, ref.Version, name))
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

// sourceReader keeps the error it ended with, to tell it from one of the disk
// that is written to.
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
