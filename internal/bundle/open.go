package bundle

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/svc"
)

// decompress detects the compression of r. The returned reader allocates at most
// maxWindow for its window, and yields at most limit bytes.
func decompress(ctx context.Context, r io.Reader, limit int64) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	magic, err := br.Peek(4)
	if err != nil {
		return nil, readError(err)
	}
	var plain io.ReadCloser
	switch {
	case bytes.Equal(magic[:2], []byte{0x1f, 0x8b}):
		plain, err = gzip.NewReader(br)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		plain, err = newZstd(br)
	default:
		return nil, refuse(svc.CodeBundleFormat, "the bundle is neither zstd nor gzip").
			WithHint("write one with svcctl bundle, or see docs/design/bundle-format.md")
	}
	if err != nil {
		return nil, readError(err)
	}
	return &boundedReader{ctx: func() error { return ctx.Err() }, r: plain, left: limit}, nil
}

func newZstd(r io.Reader) (io.ReadCloser, error) {
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return dec.IOReadCloser(), nil
}

// boundedReader stops a decompression bomb, and a read whose context ended.
type boundedReader struct {
	ctx  func() error
	r    io.ReadCloser
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, tooLarge("the bundle unpacks to more bytes than allowed")
	}
	return n, err
}

func (b *boundedReader) Close() error { return b.r.Close() }
