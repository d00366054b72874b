package bundle

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// ReadAssets reads an archive of detached assets, a tar.zst or tar.gz whose entries are
// named <sha256>/<path in the bundle>, and calls take for each. take reads body, which
// may hold other content than f says, before it returns. Errors are those of Extract and
// of take.
func ReadAssets(ctx context.Context, r io.Reader, limits Limits, take func(f File, body io.Reader) error) error {
	plain, err := decompress(ctx, r, limits.orDefault().stream())
	if err != nil {
		return err
	}
	defer plain.Close()
	for tr := tar.NewReader(plain); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return checkTail(plain)
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return readError(err)
		}
		hash, path, _ := strings.Cut(header.Name, "/")
		if header.Typeflag != tar.TypeReg || !hashPattern().MatchString(hash) || badPath(path) != "" {
			return refuse(svc.CodeBundlePath, "the entry %q of the archive is not a file named <sha256>/<path>", header.Name)
		}
		err = take(File{Path: path, SHA256: hash, Size: header.Size}, &archiveReader{r: tr})
		if archive, ok := errors.AsType[*archiveError](err); ok {
			return readError(archive.err)
		}
		if err != nil {
			return err
		}
	}
}
