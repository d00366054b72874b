package durable

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
)

// The sizes of SQLite's files, in bytes. workerd leaves the page size at its default.
const (
	pageSize   = 4096
	walHeader  = 32
	frameHead  = 24
	frameSize  = frameHead + pageSize
	frameBatch = 64 // frames in one read
)

// salt names one generation of a write-ahead log. SQLite begins a new one when it writes
// from the start of the file again; the first half counts generations.
type salt [8]byte

func (s salt) generation() uint32 { return binary.BigEndian.Uint32(s[:]) }

// checksum is the running checksum of a log. Its byte order is a property of the log.
type checksum struct {
	a, b uint32
	big  bool
}

func (c checksum) add(data []byte) checksum {
	var order binary.ByteOrder = binary.LittleEndian
	if c.big {
		order = binary.BigEndian
	}
	for i := 0; i+8 <= len(data); i += 8 {
		c.a += order.Uint32(data[i:]) + c.b
		c.b += order.Uint32(data[i+4:]) + c.a
	}
	return c
}

// is reports whether it is the checksum that data begins with.
func (c checksum) is(data []byte) bool {
	return c.a == binary.BigEndian.Uint32(data) && c.b == binary.BigEndian.Uint32(data[4:])
}

// readHeader reads the header of a write-ahead log; ok is false for none, or a torn one.
func readHeader(wal io.ReaderAt) (s salt, sum checksum, ok bool) {
	var b [walHeader]byte
	if n, _ := wal.ReadAt(b[:], 0); n < len(b) {
		return s, sum, false
	}
	const little, big = 0x377f0682, 0x377f0683
	magic := binary.BigEndian.Uint32(b[:])
	if magic != little && magic != big {
		return s, sum, false
	}
	sum = checksum{big: magic == big}.add(b[:24])
	copy(s[:], b[16:24])
	return s, sum, sum.is(b[24:]) && binary.BigEndian.Uint32(b[8:]) == pageSize
}

// run is what the frames of a log hold, up to a commit.
type run struct {
	pages map[uint32][]byte
	count uint32   // pages of the database after the last commit; 0 without a commit
	end   uint32   // frames up to and with the last commit
	sum   checksum // at end
	stop  salt     // of the frame that ended the run; zero at the end of the file
}

// readFrames follows the checksums from frame from, at most to frame to.
func readFrames(wal io.ReaderAt, s salt, sum checksum, from, to uint32) run {
	r := run{pages: map[uint32][]byte{}, end: from, sum: sum}
	open := map[uint32][]byte{} // not committed yet
	buf := make([]byte, frameBatch*frameSize)
	for i := from; i < to; {
		n, _ := wal.ReadAt(buf[:min(frameBatch, int(to-i))*frameSize], walHeader+int64(i)*frameSize)
		if n < frameSize {
			return r
		}
		for b := buf[:n-n%frameSize]; len(b) > 0; b = b[frameSize:] {
			sum = sum.add(b[:8]).add(b[frameHead:frameSize])
			if !bytes.Equal(b[8:16], s[:]) || !sum.is(b[16:]) {
				copy(r.stop[:], b[8:16])
				return r
			}
			i++
			open[binary.BigEndian.Uint32(b)] = bytes.Clone(b[frameHead:frameSize])
			if count := binary.BigEndian.Uint32(b[4:]); count != 0 {
				r.commit(open, count, i, sum)
			}
		}
	}
	return r
}

func (r *run) commit(open map[uint32][]byte, count, end uint32, sum checksum) {
	maps.Copy(r.pages, open)
	clear(open)
	r.count, r.end, r.sum = count, end, sum
}
