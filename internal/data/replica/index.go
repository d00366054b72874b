package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// smallFile is the size up to which a file is always read completely and verified by its
// checksum.
const smallFile = 256 << 10

// pageIndex is the encoded index at the end of an LTX file: page number, offset and size
// of each frame as varints, a zero, the length, and the trailer.
type pageIndex struct {
	file    branch.File
	entries []byte // without the zero
	tail    []byte // from the first entry to the end of the file
}

// newIndex finds the index in tail, the end of a file. each checks its entries.
func newIndex(f branch.File, tail []byte) (*pageIndex, error) {
	const fixed = ltx.TrailerSize + 8
	if len(tail) < fixed+1 {
		return nil, corrupt(f, "%d bytes are too few for an index", len(tail))
	}
	n := binary.BigEndian.Uint64(tail[len(tail)-fixed:])
	if n == 0 || n > uint64(len(tail)-fixed) { //nolint:gosec // checked above
		return nil, corrupt(f, "its index claims to have %d bytes", n)
	}
	start := len(tail) - fixed - int(n) //nolint:gosec // checked
	x := &pageIndex{file: f, tail: tail[start:], entries: tail[start : len(tail)-fixed-1]}
	if tail[len(tail)-fixed-1] != 0 {
		return nil, corrupt(f, "its index has no end mark")
	}
	return x, nil
}

// start is the offset of the index in the file; the six bytes before it end the pages.
func (x *pageIndex) start() int64 { return x.file.Size - int64(len(x.tail)) }

func (x *pageIndex) checksum() ltx.Checksum {
	return ltx.Checksum(binary.BigEndian.Uint64(x.tail[len(x.tail)-8:]))
}

// frame is the position of a page's data in a file.
type frame struct {
	pgno uint32
	size uint32
	off  int64
	raw  int // offset of the next entry
}

// each calls fn for the entries. It checks that they ascend and fit the file.
func (x *pageIndex) each(entries []byte, fn func(frame) error) error {
	var last frame
	end := int64(ltx.HeaderSize)
	for at := 0; at < len(entries); {
		var v [3]uint64
		for i := range v {
			n, size := binary.Uvarint(entries[at:])
			if size <= 0 {
				return corrupt(x.file, "its index does not decode")
			}
			v[i], at = n, at+size
		}
		if v[0] <= uint64(last.pgno) || v[0] > 1<<32-1 || v[1] < uint64(end) || v[2] <= ltx.PageHeaderSize || v[2] > 2*ltx.MaxPageSize || v[1] > uint64(x.start()) || v[1]+v[2] > uint64(x.start()) { //nolint:gosec // not negative
			return corrupt(x.file, "its index has page %d at %d+%d after page %d", v[0], v[1], v[2], last.pgno)
		}
		last = frame{pgno: uint32(v[0]), size: uint32(v[2]), off: int64(v[1]), raw: at} //nolint:gosec // checked
		end = last.off + int64(last.size)
		if err := fn(last); err != nil {
			return err
		}
	}
	return nil
}

// grows checks that a file has every page by which the database grew from pages.
// Otherwise a merge would restore the older content of such a page.
func (x *pageIndex) grows(pages uint32, hdr ltx.Header) error {
	next := pages + 1
	skip := func() {
		if next == hdr.LockPgno() {
			next++
		}
	}
	skip()
	err := x.each(x.entries, func(f frame) error {
		if f.pgno > hdr.Commit {
			return fmt.Errorf("page %d is beyond the end at %d", f.pgno, hdr.Commit)
		}
		if f.pgno == next {
			next++
			skip()
		}
		return nil
	})
	if err == nil && next <= hdr.Commit {
		err = fmt.Errorf("the database grew from %d to %d pages, but page %d is missing", pages, hdr.Commit, next)
	}
	return err
}

// headerOf decodes the header of f and checks that it matches the file's name.
func headerOf(f branch.File, head []byte) (ltx.Header, error) {
	var hdr ltx.Header
	err := hdr.UnmarshalBinary(head)
	if err == nil {
		err = hdr.Validate()
	}
	if err == nil && (hdr.MinTXID != TXID(f.Min) || hdr.MaxTXID != TXID(f.Max)) {
		err = fmt.Errorf("it has the transactions %d to %d", hdr.MinTXID, hdr.MaxTXID)
	}
	if err == nil && !hdr.NoChecksum() {
		err = errors.New("it has database checksums, which these logs do not use")
	}
	if err != nil {
		return hdr, corrupt(f, "read header: %w", err)
	}
	return hdr, nil
}

// readRange reads a part of a file, with n -1 the rest, and checks the file's size. A body that ends
// early is a failure of the object store, not damage of the file.
func readRange(ctx context.Context, b objstore.Bucket, f branch.File, off, n int64) ([]byte, error) {
	if f.Pack != "" {
		return readPacked(ctx, b, f, off, n)
	}
	data, info, err := objstore.Read(ctx, b, f.Key(), off, n)
	switch {
	case errors.Is(err, objstore.ErrShort) || errors.Is(err, objstore.ErrNotExist):
		return nil, &CorruptError{f.Key(), err}
	case (err == nil || errors.Is(err, objstore.ErrTorn)) && info.Size != f.Size:
		return nil, corrupt(f, "it has %d bytes, want %d", info.Size, f.Size)
	case err != nil:
		return nil, fmt.Errorf("read log file: %w", err)
	}
	return data, nil
}

// readPacked is readRange for a file in a history object.
func readPacked(ctx context.Context, b objstore.Bucket, f branch.File, off, n int64) ([]byte, error) {
	if n < 0 {
		n = f.Size - off
	}
	data, info, err := objstore.Read(ctx, b, f.Pack, f.Off+off, n)
	switch {
	case errors.Is(err, objstore.ErrShort) || errors.Is(err, objstore.ErrNotExist):
		return nil, &CorruptError{f.Key(), err}
	case (err == nil || errors.Is(err, objstore.ErrTorn)) && info.Size < f.Off+f.Size:
		return nil, corrupt(f, "its history object has %d bytes", info.Size)
	case err != nil:
		return nil, fmt.Errorf("read log file: %w", err)
	}
	return data, nil
}

// fetchIndex reads the index of a file, usually with one GET of its end. A small file is
// read completely and verified, and data is not nil.
func fetchIndex(ctx context.Context, b objstore.Bucket, f branch.File) (x *pageIndex, data []byte, err error) {
	if f.Size <= smallFile {
		if data, err = readRange(ctx, b, f, 0, -1); err == nil {
			x, err = verifyWhole(f, data)
		}
		return x, data, err
	}
	const fixed = ltx.TrailerSize + 8
	for guess := f.Size/300 + 16<<10; ; {
		off := max(f.Size-guess, 0)
		tail, err := readRange(ctx, b, f, off, f.Size-off)
		if err != nil {
			return nil, nil, err
		}
		n := binary.BigEndian.Uint64(tail[len(tail)-fixed:])
		if n < uint64(len(tail)-fixed) || off == 0 || n > uint64(f.Size) { //nolint:gosec // a size
			x, err = newIndex(f, tail)
			return x, nil, err
		}
		guess = int64(n) + fixed + 1 //nolint:gosec // smaller than the file
	}
}
