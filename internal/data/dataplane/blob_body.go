package dataplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// spoolInMemory is the size in bytes up to which a body is spooled in memory. A larger one
// is spooled in an unnamed file.
const spoolInMemory = 256 << 10

// spooled is a complete body, which can be sent repeatedly.
type spooled interface {
	io.ReaderAt
	io.Closer
}

// spool reads all of body, which must have size bytes.
func spool(body io.Reader, size int64, temp func() (*os.File, error)) (spooled, error) { //nolint:ireturn // one of two
	var buf bytes.Buffer
	var to io.Writer = &buf
	var file *os.File
	if size > spoolInMemory {
		f, err := temp()
		if err != nil {
			return nil, err
		}
		to, file = f, f
		if err := os.Remove(f.Name()); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	n, err := io.Copy(to, body)
	if err == nil && n != size {
		err = fmt.Errorf("read body: it has %d bytes, want %d", n, size)
	}
	switch {
	case err != nil && file != nil:
		return nil, errors.Join(err, file.Close())
	case err != nil:
		return nil, err
	case file != nil:
		return file, nil
	}
	return inMemory{bytes.NewReader(buf.Bytes())}, nil
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

const (
	blobTries = 4 // attempts without progress after a broken connection
	blobPause = 50 * time.Millisecond
)

// blobReader reads a part of an object. After a broken connection it continues at the same
// offset, since objects never change.
type blobReader struct {
	ctx      context.Context //nolint:containedctx // of the request that reads
	bucket   objstore.Bucket
	key      string
	at, left int64
	part     io.ReadCloser
	failed   int
}

// open requests the rest.
func (r *blobReader) open() error {
	for {
		part, _, err := r.bucket.Get(r.ctx, r.key, r.at, r.left)
		if err == nil {
			r.part = part
			return nil
		}
		if !r.retry(err) {
			return err
		}
	}
}

// retry waits before another attempt, and reports whether one is due.
func (r *blobReader) retry(err error) bool {
	r.failed++
	return r.failed < blobTries && !errors.Is(err, objstore.ErrNotExist) && backoff.Sleep(r.ctx, blobPause<<r.failed) == nil
}

// Read implements io.Reader.
func (r *blobReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for {
		n, err := r.part.Read(p[:min(int64(len(p)), r.left)])
		if n > 0 {
			r.at, r.left, r.failed = r.at+int64(n), r.left-int64(n), 0
			return n, nil // an error will be returned by the next read
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = objstore.ErrTorn
		}
		_ = r.part.Close() // err is reported instead
		if !r.retry(err) {
			return 0, fmt.Errorf("read body: %w", err)
		}
		if err := r.open(); err != nil {
			return 0, fmt.Errorf("read body: %w", err)
		}
	}
}

// Close releases the connection.
func (r *blobReader) Close() error { return r.part.Close() }
