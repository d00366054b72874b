package dataplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
)

// spoolInMemory is the size up to which a body is in memory while it is stored,
// in bytes. A larger one is in a file without a name.
const spoolInMemory = 256 << 10

// spooled is a whole body. It can be sent again.
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
		err = fmt.Errorf("a body has %d bytes, and %d were announced", n, size)
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
	blobTries = 4 // to go on where a connection broke, without a byte in between
	blobPause = 50 * time.Millisecond
)

// blobReader reads a part of an object, and goes on where a connection broke:
// what has a name never changes.
type blobReader struct {
	ctx      context.Context //nolint:containedctx // of the request that reads
	bucket   objstore.Bucket
	key      string
	at, left int64
	part     io.ReadCloser
	failed   int
}

// open asks for what is left.
func (r *blobReader) open() error {
	for {
		part, _, err := r.bucket.Get(r.ctx, r.key, r.at, r.left)
		if err == nil {
			r.part = part
			return nil
		}
		if !r.again(err) {
			return err
		}
	}
}

// again waits before another try, and reports whether there is to be one.
func (r *blobReader) again(err error) bool {
	r.failed++
	return r.failed < blobTries && !errors.Is(err, objstore.ErrNotExist) && sleep(r.ctx, blobPause<<r.failed)
}

// Read reads on.
func (r *blobReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for {
		n, err := r.part.Read(p[:min(int64(len(p)), r.left)])
		if n > 0 {
			r.at, r.left, r.failed = r.at+int64(n), r.left-int64(n), 0
			return n, nil // an error comes again
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = objstore.ErrTorn
		}
		_ = r.part.Close() // it failed already
		if !r.again(err) {
			return 0, fmt.Errorf("reading a body: %w", err)
		}
		if err := r.open(); err != nil {
			return 0, fmt.Errorf("reading a body: %w", err)
		}
	}
}

// Close gives the connection back.
func (r *blobReader) Close() error { return r.part.Close() }
