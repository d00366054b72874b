package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc64"

	"github.com/pierrec/lz4/v4"
	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// decodeFrame unpacks the frame of page pgno into dst, which has the size of a page. It
// writes the bytes that the checksum of the file covers to h, unless h is nil.
func decodeFrame(f branch.File, pgno uint32, raw, dst []byte, h hash.Hash64) error {
	var hdr ltx.PageHeader
	if err := hdr.UnmarshalBinary(raw); err != nil || hdr.Pgno != pgno {
		return corrupt(f, "found page %d in place of page %d", hdr.Pgno, pgno)
	}
	if hdr.Flags&ltx.PageHeaderFlagSize == 0 || len(raw) < ltx.PageHeaderSize+4 {
		return corrupt(f, "page %d has an unknown format", pgno)
	}
	body := raw[ltx.PageHeaderSize+4:]
	if n := binary.BigEndian.Uint32(raw[ltx.PageHeaderSize:]); int(n) != len(body) {
		return corrupt(f, "page %d has %d bytes in a frame for %d", pgno, n, len(body))
	}
	n, err := lz4.UncompressBlock(body, dst)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("unpacked to %d bytes, want %d", n, len(dst))
	}
	if err != nil {
		return corrupt(f, "page %d: %w", pgno, err)
	}
	if h != nil {
		_, _ = h.Write(raw[:ltx.PageHeaderSize+4]) // never fails
		_, _ = h.Write(dst)
	}
	return nil
}

// verifyWhole checks a complete file in memory, including its checksum.
func verifyWhole(f branch.File, data []byte) (*pageIndex, error) {
	if err := newFrameCheck(f).pass(data); err != nil {
		return nil, err
	}
	dec := ltx.NewDecoder(bytes.NewReader(data))
	dec.SetRetainPageIndex(false)
	if err := dec.Verify(); err != nil {
		return nil, &CorruptError{f.Key(), err}
	}
	if _, err := headerOf(f, data); err != nil {
		return nil, err
	}
	return newIndex(f, data)
}

// frameCheck checks the sizes that frames claim to have, as a file is read from its beginning: the
// decoder allocates them, up to 4 GiB.
type frameCheck struct {
	file branch.File
	skip int64  // bytes before the next frame
	head []byte // what was read of the next frame's header and size
	done bool   // the end of the pages was read
}

func newFrameCheck(f branch.File) *frameCheck {
	return &frameCheck{file: f, skip: ltx.HeaderSize}
}

// pass takes the next bytes of the file.
func (c *frameCheck) pass(data []byte) error {
	const head = ltx.PageHeaderSize + 4
	for len(data) > 0 && !c.done {
		n := min(c.skip, int64(len(data)))
		data, c.skip = data[n:], c.skip-n
		n = min(int64(head-len(c.head)), int64(len(data)))
		c.head, data = append(c.head, data[:n]...), data[n:]
		if err := c.frame(); err != nil {
			return err
		}
	}
	return nil
}

// frame looks at what was read of a frame's header.
func (c *frameCheck) frame() error {
	var hdr ltx.PageHeader
	if len(c.head) < ltx.PageHeaderSize {
		return nil
	}
	if err := hdr.UnmarshalBinary(c.head); err != nil {
		return &CorruptError{c.file.Key(), err}
	}
	if c.done = hdr.IsZero(); c.done || len(c.head) < ltx.PageHeaderSize+4 {
		return nil
	}
	if hdr.Flags&ltx.PageHeaderFlagSize == 0 {
		return corrupt(c.file, "page %d has an unknown format", hdr.Pgno)
	}
	n := binary.BigEndian.Uint32(c.head[ltx.PageHeaderSize:])
	if n > 2*ltx.MaxPageSize {
		return corrupt(c.file, "page %d claims to have %d bytes", hdr.Pgno, n)
	}
	c.skip, c.head = int64(n), c.head[:0]
	return nil
}

func newHash() hash.Hash64 { return crc64.New(crc64.MakeTable(crc64.ISO)) }

// joinCRC computes the CRC of two concatenated pieces from their CRCs: it shifts a by
// b's length in zero bits, which is a multiplication in GF(2)[x].
func joinCRC(a, b uint64, lengthB int64) uint64 {
	var even, odd [64]uint64
	odd[0] = crc64.ISO
	for i := 1; i < 64; i++ {
		odd[i] = 1 << (i - 1)
	}
	square(&even, &odd) // two bits
	square(&odd, &even) // four
	for n := lengthB; n > 0; {
		square(&even, &odd)
		if n&1 != 0 {
			a = times(&even, a)
		}
		even, odd = odd, even
		n >>= 1
	}
	return a ^ b
}

func times(m *[64]uint64, v uint64) (sum uint64) {
	for i := 0; v != 0; i, v = i+1, v>>1 {
		if v&1 != 0 {
			sum ^= m[i]
		}
	}
	return sum
}

func square(dst, m *[64]uint64) {
	for i := range dst {
		dst[i] = times(m, m[i])
	}
}
