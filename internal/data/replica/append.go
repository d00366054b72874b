package replica

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// pending is an append whose outcome is unknown.
type pending struct {
	txid     TXID
	size     int64
	checksum ltx.Checksum
}

// Append writes the next transaction, txid = Position()+1, and returns nil once the
// object store has it. It retries failed requests until ctx ends; the outcome is then
// unknown, and the caller must call Append again with the same bytes (otherwise
// ErrUnsettled). ErrFenced is final for this Log.
func (l *Log) Append(ctx context.Context, txid TXID, data []byte) error {
	return l.AppendFrom(ctx, txid, bytes.NewReader(data), int64(len(data)))
}

// AppendFrom is Append for a transaction in a file, which need not fit in memory.
func (l *Log) AppendFrom(ctx context.Context, txid TXID, body io.ReaderAt, size int64) error {
	l.appending.Lock()
	defer l.appending.Unlock()
	hdr, id, err := l.validate(txid, body, size)
	if err != nil {
		return fmt.Errorf("append %d to %s: %w", txid, l.prefix, err)
	}
	f := branch.File{Prefix: l.prefix, Min: uint64(txid), Max: uint64(txid), Size: size}
	info, err := objstore.Settle(ctx, l.bucket, f.Key(), body, size, objstore.Condition{IfAbsent: true})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, objstore.ErrPrecondition):
		l.fenced = fmt.Errorf("append %d to %s: %w", txid, l.prefix, ErrFenced)
		return l.fenced
	case err != nil:
		l.pending = &id
		return fmt.Errorf("append to %s: %w", l.prefix, err)
	}
	f.Modified = info.Modified
	l.own = append(l.own, f)
	l.pos, l.pending, l.pageSize, l.pages = txid, nil, hdr.PageSize, hdr.Commit
	return nil
}

// Has reports whether the log has exactly these bytes as its own transaction txid. After
// a crash it tells whether an Append succeeded.
func (l *Log) Has(ctx context.Context, txid TXID, body io.ReaderAt, size int64) (bool, error) {
	f := branch.File{Prefix: l.prefix, Min: uint64(txid), Max: uint64(txid), Size: size}
	same, err := objstore.Same(ctx, l.bucket, f.Key(), body, size)
	if err != nil {
		return false, fmt.Errorf("compare transaction %s: %w", f.Key(), err)
	}
	return same, nil
}

// validate rejects a file that must not enter the log.
func (l *Log) validate(txid TXID, body io.ReaderAt, size int64) (hdr ltx.Header, id pending, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fenced != nil:
		return hdr, id, l.fenced
	case txid <= TXID(l.base.TXID):
		return hdr, id, fmt.Errorf("%w: the database was forked at %d", ErrOrder, l.base.TXID)
	case txid != l.pos+1:
		return hdr, id, fmt.Errorf("%w: the log ends with %d", ErrOrder, l.pos)
	}
	f := branch.File{Prefix: l.prefix, Min: uint64(txid), Max: uint64(txid), Size: size}
	hdr, index, err := describe(f, body)
	if err != nil {
		return hdr, id, err
	}
	if l.pageSize != 0 && hdr.PageSize != l.pageSize {
		return hdr, id, fmt.Errorf("its pages have %d bytes, those of the log %d", hdr.PageSize, l.pageSize)
	}
	id = pending{txid, size, index.checksum()}
	if l.pending != nil && *l.pending != id {
		return hdr, id, ErrUnsettled
	}
	if l.pages != 0 || l.pos == 0 {
		err = index.grows(l.pages, hdr)
	}
	return hdr, id, err
}

// describe reads the header and the index of a local file.
func describe(f branch.File, body io.ReaderAt) (hdr ltx.Header, x *pageIndex, err error) {
	head := make([]byte, ltx.HeaderSize)
	if f.Size < ltx.HeaderSize+ltx.TrailerSize+8 {
		return hdr, nil, fmt.Errorf("%d bytes are not an LTX file", f.Size)
	}
	if _, err := body.ReadAt(head, 0); err != nil {
		return hdr, nil, fmt.Errorf("read header: %w", err)
	}
	if hdr, err = headerOf(f, head); err != nil {
		return hdr, nil, err
	}
	var end [ltx.TrailerSize + 8]byte
	if _, err := body.ReadAt(end[:], f.Size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return hdr, nil, fmt.Errorf("read trailer: %w", err)
	}
	n := binary.BigEndian.Uint64(end[:8])
	if n > uint64(f.Size)-uint64(len(end))-ltx.HeaderSize {
		return hdr, nil, fmt.Errorf("read index: it has %d bytes in a file of %d", n, f.Size)
	}
	tail := make([]byte, int64(n)+int64(len(end))) //nolint:gosec // smaller than the file
	if _, err := body.ReadAt(tail, f.Size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return hdr, nil, fmt.Errorf("read index: %w", err)
	}
	if x, err = newIndex(f, tail); err == nil {
		err = x.each(x.entries, func(frame) error { return nil })
	}
	return hdr, x, err
}
