package ring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Reader reads the records of a ring, oldest first, and those that are written meanwhile.
// It is for one goroutine. Close it.
type Reader struct {
	dir, name string
	next      uint64 // no record before this number is wanted
	file      *os.File
	first     uint64 // of the open segment
	buf       []byte // read, and not returned yet from at on
	at        int
}

// NewReader reads the records after number after; 0 is before the first one. It opens no
// file yet.
func NewReader(dir, name string, after uint64) *Reader {
	return &Reader{dir: dir, name: name, next: after + 1}
}

// Next returns the next record and its number. line is valid until the next call. ok is
// false if the end is reached; a later call may find a record. A number that does not follow
// the one before means that the records between are not kept any more.
func (r *Reader) Next() (n uint64, line []byte, ok bool, err error) { //nolint:revive // a record, or the end, or an error
	for {
		line, err := r.line()
		if err != nil || line == nil {
			return 0, nil, false, err
		}
		if n, ok := number(line); ok && n >= r.next {
			r.next = n + 1
			return n, line, true, nil
		}
	}
}

// line returns the next whole line, in whichever segment; nil for none now.
func (r *Reader) line() ([]byte, error) {
	for final := false; ; {
		if line := r.take(); line != nil {
			return line, nil
		}
		more, err := r.fill()
		if err != nil || more {
			if err != nil {
				return nil, err
			}
			continue
		}
		next, err := r.newer()
		if err != nil || next == nil {
			return nil, err
		}
		if r.file != nil && !final { // written before the newer one: read its end
			final = true
			continue
		}
		final = false
		if err := r.open(*next); err != nil {
			return nil, err
		}
	}
}

// take takes a whole line from the buffer.
func (r *Reader) take() []byte {
	i := bytes.IndexByte(r.buf[r.at:], '\n')
	if i < 0 {
		return nil
	}
	line := r.buf[r.at : r.at+i]
	r.at += i + 1
	return line
}

const readSize = 64 << 10

// fill reads more of the open segment and reports whether there was more.
func (r *Reader) fill() (bool, error) {
	if r.file == nil {
		return false, nil
	}
	r.buf = append(r.buf[:0], r.buf[r.at:]...)
	r.at = 0
	had := len(r.buf)
	r.buf = append(r.buf, make([]byte, readSize)...)
	n, err := r.file.Read(r.buf[had:])
	r.buf = r.buf[:had+n]
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("reading a segment: %w", err)
	}
	return n > 0, nil
}

// newer finds the segment to read after the open one: the one that has r.next, or the
// first after it. nil is none.
func (r *Reader) newer() (*segment, error) {
	list, err := segments(r.dir, r.name)
	if err != nil {
		return nil, err
	}
	var found *segment
	for i := range list {
		if r.file != nil && list[i].first <= r.first {
			continue
		}
		if found != nil && list[i].first > r.next {
			break
		}
		found = &list[i]
	}
	return found, nil
}

func (r *Reader) open(s segment) error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile: look again
	}
	if err != nil {
		return fmt.Errorf("opening a segment: %w", err)
	}
	_ = r.Close()
	r.file, r.first, r.buf, r.at = f, s.first, r.buf[:0], 0
	return nil
}

// Close gives the file back.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
