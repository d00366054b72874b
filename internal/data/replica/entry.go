package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Entry is one file of the history: the changes of transactions Min to Max.
type Entry struct {
	Min, Max  uint64
	Time      int64  // milliseconds, see branch.Place
	Place     uint64 // of Max, see branch.Place
	Off, Size int64  // in a history object
}

// IsPoint reports whether the database is at a point of its version after the entry.
func (e Entry) IsPoint() bool {
	_, sum := branch.PlaceOf(e.Place)
	return sum != 0
}

// file is the entry as a file of a plan.
func (e Entry) file(h branch.Hist) branch.File {
	level := 0
	if e.Min != e.Max {
		level = 1
	}
	return branch.File{Prefix: h.Prefix, Level: level, Min: e.Min, Max: e.Max, Size: e.Size, Pack: h.Key(), Off: e.Off}
}

// A history object ends with its entries as varints, most of them as differences, and the length of
// that in 8 bytes.
const lengthSize = 8

func appendEntries(b []byte, list []Entry) []byte {
	from := len(b)
	b = binary.AppendUvarint(b, uint64(len(list)))
	var last Entry
	for _, e := range list {
		b = binary.AppendUvarint(b, e.Min-last.Max)
		b = binary.AppendUvarint(b, e.Max-e.Min)
		b = binary.AppendVarint(b, e.Time-last.Time)
		b = binary.AppendUvarint(b, e.Place)
		b = binary.AppendUvarint(b, uint64(e.Size)) //nolint:gosec // a size
		last = e
	}
	return binary.BigEndian.AppendUint64(b, uint64(len(b)-from)) //nolint:gosec // a length
}

var errIndex = errors.New("the index of the history object does not decode")

// decodeEntries is the reverse of appendEntries for an object of size bytes.
func decodeEntries(b []byte, size int64) ([]Entry, error) {
	r := varints{b: b}
	n := r.next()
	if r.bad || n == 0 || n > uint64(len(b)) {
		return nil, errIndex
	}
	list := make([]Entry, 0, n)
	var last Entry
	for range n {
		e := Entry{Min: last.Max + r.next(), Off: last.Off + last.Size}
		e.Max, e.Time = e.Min+r.next(), last.Time+r.signed()
		e.Place, e.Size = r.next(), int64(r.next()) //nolint:gosec // checked below
		if r.bad || e.Min == 0 || e.Max < e.Min || e.Size <= 0 || e.Size > size-e.Off {
			return nil, errIndex
		}
		list, last = append(list, e), e
	}
	if len(r.b) > 0 {
		return nil, errIndex
	}
	return list, nil
}

// varints reads numbers until one is bad.
type varints struct {
	b   []byte
	bad bool
}

func (r *varints) next() uint64 {
	v, n := binary.Uvarint(r.b)
	r.skip(n)
	return v
}

func (r *varints) signed() int64 {
	v, n := binary.Varint(r.b)
	r.skip(n)
	return v
}

func (r *varints) skip(n int) {
	r.bad = r.bad || n <= 0
	r.b = r.b[max(n, 0):]
}

// readHist reads the entries of a history object, usually with one GET of its end.
func readHist(ctx context.Context, b objstore.Bucket, h branch.Hist) ([]Entry, error) {
	for guess := min(h.Size, 4<<10); ; {
		tail, _, err := objstore.Read(ctx, b, h.Key(), h.Size-guess, guess)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if len(tail) < lengthSize {
			return nil, &CorruptError{h.Key(), errIndex}
		}
		n := binary.BigEndian.Uint64(tail[len(tail)-lengthSize:])
		if n > uint64(h.Size-lengthSize) { //nolint:gosec // at least the length of tail
			return nil, &CorruptError{h.Key(), errIndex}
		}
		if whole := int64(n) + lengthSize; whole > guess { //nolint:gosec // checked
			guess = whole
			continue
		}
		list, err := decodeEntries(tail[int64(len(tail))-lengthSize-int64(n):len(tail)-lengthSize], h.Size) //nolint:gosec // checked
		if err != nil {
			return nil, &CorruptError{h.Key(), err}
		}
		return list, nil
	}
}
