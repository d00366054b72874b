package replica

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// mergeRange is the number of bytes of each input that a merge has in memory.
const mergeRange = 512 << 10

// merge writes one file of a level from consecutive inputs, whose checksums it verifies.
func (l *Log) merge(ctx context.Context, inputs []branch.File, level int, pause time.Duration) (f branch.File, err error) {
	f = branch.File{Prefix: l.prefix, Level: level, Min: inputs[0].Min, Max: inputs[len(inputs)-1].Max}
	tmp, err := os.CreateTemp(l.tempDir, "merge-*.ltx")
	if err != nil {
		return f, fmt.Errorf("create merged file: %w", err)
	}
	defer func() {
		_ = tmp.Close()
		_ = os.Remove(tmp.Name())
	}()
	if err := l.mergeTo(ctx, tmp, inputs, pause); err != nil {
		return f, fmt.Errorf("merge %s: %w", f.Key(), err)
	}
	stat, err := tmp.Stat()
	if err != nil {
		return f, fmt.Errorf("get size of merged file: %w", err)
	}
	f.Size = stat.Size()
	info, err := objstore.Settle(ctx, l.bucket, f.Key(), tmp, f.Size, objstore.Condition{IfAbsent: true})
	if errors.Is(err, objstore.ErrPrecondition) {
		return l.adopt(ctx, f)
	}
	if err != nil {
		return f, fmt.Errorf("put merged file: %w", err)
	}
	f.Modified = info.Modified
	l.add(f)
	return f, nil
}

// adopt accepts an existing merged file with other bytes: another version of the program
// compressed the same pages differently.
func (l *Log) adopt(ctx context.Context, f branch.File) (branch.File, error) {
	info, err := l.bucket.Stat(ctx, f.Key())
	if err != nil {
		return f, fmt.Errorf("stat merged file: %w", err)
	}
	f.Size, f.Modified = info.Size, info.Modified
	r := l.reader(ctx, f, 0)
	dec := ltx.NewDecoder(r)
	dec.SetRetainPageIndex(false)
	err = dec.Verify()
	if r.failed != nil { // the object store, which says nothing of the file
		return f, fmt.Errorf("read merged file: %w", r.failed)
	}
	if hdr := dec.Header(); err == nil && (hdr.MinTXID != TXID(f.Min) || hdr.MaxTXID != TXID(f.Max)) {
		err = fmt.Errorf("it has the transactions %d to %d", hdr.MinTXID, hdr.MaxTXID)
	}
	if err != nil {
		return f, corrupt(f, "it exists in place of a merge: %w", err)
	}
	l.add(f)
	return f, nil
}

func (l *Log) add(f branch.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = append(l.own, f)
}

// mergeTo writes the merge of inputs to w.
func (l *Log) mergeTo(ctx context.Context, w io.Writer, inputs []branch.File, pause time.Duration) error {
	readers := make([]io.Reader, len(inputs))
	for i, f := range inputs {
		if i > 0 && (f.Min > inputs[i-1].Max+1 || f.Max <= inputs[i-1].Max) {
			return errMoved
		}
		readers[i] = l.reader(ctx, f, pause)
	}
	out := bufio.NewWriterSize(w, 256<<10)
	c, err := ltx.NewCompactor(out, readers)
	if err != nil {
		return fmt.Errorf("create compactor: %w", err)
	}
	c.HeaderFlags = ltx.HeaderFlagNoChecksum
	c.SetSpillDir(l.tempDir)
	if err := c.Compact(ctx); err != nil {
		return err
	}
	return out.Flush()
}

// reader reads a file from its beginning, with a pause before each range except the
// first.
func (l *Log) reader(ctx context.Context, f branch.File, pause time.Duration) *rangeReader {
	frames := newFrameCheck(f)
	return &rangeReader{left: f.Size, next: func(off, n int64) ([]byte, error) {
		if off > 0 && pause > 0 {
			t := time.NewTimer(pause)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		data, err := readRange(ctx, l.bucket, f, off, n)
		if err == nil {
			err = frames.pass(data)
		}
		return data, err
	}}
}

// rangeReader reads an object by ranges, so that many objects can be open without a
// connection each.
type rangeReader struct {
	next   func(off, n int64) ([]byte, error)
	failed error // of next
	off    int64
	left   int64
	buf    []byte
}

func (r *rangeReader) Read(p []byte) (int, error) {
	if len(r.buf) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		data, err := r.next(r.off, min(r.left, mergeRange))
		if err != nil {
			r.failed = err
			return 0, err
		}
		r.buf, r.off, r.left = data, r.off+int64(len(data)), r.left-int64(len(data))
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}
