package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
)

// smallFile is the size up to which a file is read whole, and so verified by
// its checksum, whenever its index is wanted.
const smallFile = 256 << 10

// pageIndex is the index at the end of an LTX file, as it lies there: page
// number, offset and size of each frame as varints, a zero, the length, and
// the trailer.
type pageIndex struct {
	file    branch.File
	entries []byte // without the zero
	tail    []byte // from the first entry to the end of the file
}

// newIndex finds the index in tail, the end of a file. Its entries are checked
// by each.
func newIndex(f branch.File, tail []byte) (*pageIndex, error) {
	const fixed = ltx.TrailerSize + 8
	if len(tail) < fixed+1 {
		return nil, corrupt(f, "no room for an index in %d bytes", len(tail))
	}
	n := binary.BigEndian.Uint64(tail[len(tail)-fixed:])
	if n == 0 || n > uint64(len(tail)-fixed) { //nolint:gosec // checked above
		return nil, corrupt(f, "its index says to have %d bytes", n)
	}
	start := len(tail) - fixed - int(n) //nolint:gosec // checked
	x := &pageIndex{file: f, tail: tail[start:], entries: tail[start : len(tail)-fixed-1]}
	if tail[len(tail)-fixed-1] != 0 {
		return nil, corrupt(f, "its index has no end mark")
	}
	return x, nil
}

// start is where the index begins in the file; the six bytes before it end the pages.
func (x *pageIndex) start() int64 { return x.file.Size - int64(len(x.tail)) }

func (x *pageIndex) checksum() ltx.Checksum {
	return ltx.Checksum(binary.BigEndian.Uint64(x.tail[len(x.tail)-8:]))
}

// frame is where the data of a page lies in a file.
type frame struct {
	pgno uint32
	size uint32
	off  int64
	raw  int // where the next entry begins
}

// each calls fn for the entries, which are checked to ascend and to fit the file.
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
		if v[0] <= uint64(last.pgno) || v[0] > 1<<32-1 || v[1] < uint64(end) || v[2] <= ltx.PageHeaderSize || v[2] > 2*ltx.MaxPageSize || v[1]+v[2] > uint64(x.start()) { //nolint:gosec // not negative
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

// grows checks that a file holds every page by which the database grew from
// pages: a merge would else bring back what an older file has there.
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
			return fmt.Errorf("page %d lies beyond the end at %d", f.pgno, hdr.Commit)
		}
		if f.pgno == next {
			next++
			skip()
		}
		return nil
	})
	if err == nil && next <= hdr.Commit {
		err = fmt.Errorf("the database grew from %d to %d pages, and page %d is missing", pages, hdr.Commit, next)
	}
	return err
}

// headerOf reads the header of f and checks that it belongs to that name.
func headerOf(f branch.File, head []byte) (ltx.Header, error) {
	var hdr ltx.Header
	err := hdr.UnmarshalBinary(head)
	if err == nil {
		err = hdr.Validate()
	}
	if err == nil && (hdr.MinTXID != TXID(f.Min) || hdr.MaxTXID != TXID(f.Max)) {
		err = fmt.Errorf("it holds the transactions %d to %d", hdr.MinTXID, hdr.MaxTXID)
	}
	if err == nil && !hdr.NoChecksum() {
		err = errors.New("it keeps database checksums, which logs here do not")
	}
	if err != nil {
		return hdr, corrupt(f, "header: %w", err)
	}
	return hdr, nil
}

// readRange reads part of a file, n -1 for the rest, and checks its size.
func readRange(ctx context.Context, b objstore.Bucket, f branch.File, off, n int64) ([]byte, error) {
	data, info, err := objstore.Read(ctx, b, f.Key(), off, n)
	switch {
	case errors.Is(err, objstore.ErrTorn) || errors.Is(err, objstore.ErrNotExist):
		return nil, &CorruptError{f.Key(), err}
	case err != nil:
		return nil, fmt.Errorf("read log file: %w", err)
	case info.Size != f.Size:
		return nil, corrupt(f, "it has %d bytes instead of %d", info.Size, f.Size)
	}
	return data, nil
}

// fetchIndex reads the index of a file: as a rule one GET of its end. A small
// file comes whole and verified, and data is not nil.
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
