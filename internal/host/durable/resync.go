package durable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// resyncs is how often a poll tries to read a file that changes meanwhile.
const resyncs = 8

var errChanged = errors.New("the file changed while it was read")

// resync reads the whole database. Without success it tries again at the next poll.
func (f *follower) resync() (*change, error) {
	for range resyncs {
		c, err := f.readAll()
		if !errors.Is(err, errChanged) {
			return c, err
		}
	}
	return nil, nil // at the next poll
}

// readAll reads the file and then the log. What a checkpoint writes meanwhile is in the
// frames up to the index, which is read after the file.
func (f *follower) readAll() (*change, error) {
	before, err := stampOf(f.path)
	if err != nil {
		return nil, nil // no file
	}
	if f.files != nil {
		if !f.files.hold(true) {
			return nil, errChanged
		}
		defer func() {
			if f.files != nil && f.files.captured < muchFrames {
				f.files.hold(false)
			}
		}()
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, errChanged
	}
	var r run
	var s salt
	if f.files == nil {
		err = f.stillClosed(before)
	} else {
		r, s, err = f.readLog(before)
	}
	if err != nil {
		return nil, err
	}
	c, err := join(data, r, f.files == nil)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.path, err)
	}
	if f.files != nil {
		f.files.salt, f.files.captured, f.files.sum = s, r.end, r.sum
	} else {
		f.closed = before
	}
	f.known, f.count = true, c.count
	return c, nil
}

// stillClosed checks that no writer has opened or changed the file.
func (f *follower) stillClosed(before stamp) error {
	if _, err := os.Stat(f.path + "-wal"); err == nil {
		return errChanged
	}
	if now, err := stampOf(f.path); err != nil || now != before {
		return errChanged
	}
	return nil
}

// readLog reads the whole log.
func (f *follower) readLog(before stamp) (r run, s salt, err error) {
	o := f.files
	headSalt, sum, hasHead := readHeader(o.wal)
	x, ok := readIndex(o.shm)
	if !ok || x.frames > 0 && (!hasHead || headSalt != x.salt) {
		return r, s, errChanged
	}
	if x.frames > 0 {
		if r = readFrames(o.wal, x.salt, sum, 0, x.frames); r.end != x.frames {
			return r, s, errChanged
		}
	} else if hasHead && headSalt == x.salt {
		r.sum = sum
	}
	if !isFile(f.path+"-wal", o.walIno) {
		f.detach()
		return r, s, errChanged
	}
	if !isFile(f.path, before.ino) {
		return r, s, errChanged
	}
	return r, x.salt, nil
}

// join is the database that a file and its log make.
func join(data []byte, r run, closed bool) (*change, error) {
	count := r.count
	if count == 0 {
		count = uint32(len(data) / pageSize) //nolint:gosec // files are far smaller than 16 TiB
		if len(data) >= 32 && closed {
			if n := binary.BigEndian.Uint32(data[28:]); n != 0 && n < count {
				count = n
			}
		}
	}
	c := &change{count: count, pages: make(map[uint32][]byte, count)}
	for n := uint32(1); n <= count; n++ {
		page, ok := r.pages[n]
		if !ok {
			if int(n)*pageSize > len(data) {
				return nil, fmt.Errorf("page %d of %d is missing", n, count)
			}
			page = data[(n-1)*pageSize : n*pageSize]
		}
		c.pages[n] = page
	}
	return c, nil
}
