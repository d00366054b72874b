package bundle

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// ReadManifest reads a packed bundle until its manifest, which Pack writes first. It
// checks no other file.
func ReadManifest(ctx context.Context, r io.Reader, limits Limits) (Manifest, error) {
	plain, err := decompress(ctx, r, limits.orDefault().stream())
	if err != nil {
		return Manifest{}, err
	}
	defer plain.Close()
	for tr := tar.NewReader(plain); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return Manifest{}, refuse(svc.CodeBundleMismatch, "the bundle has no manifest.json")
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return Manifest{}, readError(err)
		}
		if strings.TrimPrefix(header.Name, "./") != manifestFile {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(tr, maxManifest))
		if err != nil {
			return Manifest{}, readError(err)
		}
		return Decode(data)
	}
}
