package provision

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// member is the one file of the package that is used.
	member = "package/bin/workerd"
	// maxBinary bounds its size; the real one has 162 MB.
	maxBinary = 1 << 30
)

// verify compares the tarball's digest with the pinned one.
func verify(tarball string, pkg Package) error {
	got, err := digest(tarball)
	if err != nil {
		return err
	}
	if got != pkg.Integrity {
		return svc.Errorf(svc.Unavailable, svc.CodeWorkerdChecksumMismatch,
			"the package %s that npm fetched is not the one this program was made for: it is %s, not %s", pkg.Name, got, pkg.Integrity).
			WithHint("try again; if it stays, the registry or a cache between delivers something else: do not use it")
	}
	return nil
}

// digest returns "sha512-" and the base64 digest of a file.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("opening a file of workerd: %w", err)
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading a file of workerd: %w", err)
	}
	return "sha512-" + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// extract writes the binary of the tarball to path, executable and synced.
func extract(ctx context.Context, tarball, path string) error {
	f, err := os.Open(tarball)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("there is no %s in it", member)
		}
		if err != nil {
			return err
		}
		if h.Name == member && h.Typeflag == tar.TypeReg && h.Size <= maxBinary {
			return writeBinary(path, &ctxReader{ctx, r})
		}
	}
}

func writeBinary(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755) //nolint:gosec // a program for all users
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context //nolint:containedctx // io.Reader has no other way to be told
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
