package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// objectSlack is the size that the tar format may add to the files.
const objectSlack = 16 << 20

// download is an object on local disk.
type download struct {
	file   string
	digest string
	size   int64
}

// download saves the bundle's object on disk. It returns a *laterError if the
// object does not exist yet or a source cannot be read.
func (b *bundles) download(ctx context.Context, ref svc.Ref) (download, error) {
	var broken error
	for _, src := range b.sources {
		body, _, err := src.open(ctx, ref)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		defer body.Close()
		return b.save(ctx, ref, body)
	}
	if broken != nil {
		return download{}, &laterError{broken}
	}
	return download{}, &laterError{errAbsent}
}

// present reports whether a source has the bundle; false for a source that does
// not answer.
func (b *bundles) present(ctx context.Context, ref svc.Ref) bool {
	return slices.ContainsFunc(b.sources, func(src source) bool { return src.has(ctx, ref) })
}

// save streams body to disk while hashing it.
func (b *bundles) save(ctx context.Context, ref svc.Ref, body io.Reader) (download, error) {
	got := download{file: b.object(ref)}
	f, err := os.OpenFile(got.file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return download{}, fmt.Errorf("saving the bundle: %w", err)
	}
	hash, limit := sha256.New(), b.maxObject()
	from := &sourceReader{r: body}
	got.size, err = io.Copy(io.MultiWriter(f, hash), io.LimitReader(from, limit+1))
	err = errors.Join(err, f.Close())
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && got.size > limit:
		err = svc.Errorf(svc.TooLarge, svc.CodeBundleTooLarge, "the bundle has more than %d bytes", limit)
	case from.err != nil:
		err = &laterError{err}
	case err != nil:
		err = fmt.Errorf("saving the bundle: %w", err)
	}
	if err != nil {
		return download{}, errors.Join(err, os.Remove(got.file))
	}
	got.digest = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return got, nil
}

// maxObject is the size limit of an object in bytes: that of its files without
// compression [D42].
func (b *bundles) maxObject() int64 {
	if b.limits.Total > 0 {
		return b.limits.Total + objectSlack
	}
	return bundle.DefaultTotalBytes + objectSlack
}
