package bundle

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// CheckFile checks the bundle in file as Extract does, and unpacks nothing.
func CheckFile(ctx context.Context, file string, limits Limits) error {
	src, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("open bundle: %w", err)
	}
	defer src.Close()
	_, err = unpack(ctx, src, limits, func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil })
	return err
}

// nowhere is a file that keeps nothing.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }
