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
	if err := checkFrames(f, data); err != nil {
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

// checkFrames checks that the frames are inside of the file: the decoder allocates the size
// that a frame claims to have, up to 4 GiB.
func checkFrames(f branch.File, data []byte) error {
	for at := ltx.HeaderSize; ; {
		var hdr ltx.PageHeader
		if len(data)-at < ltx.PageHeaderSize || hdr.UnmarshalBinary(data[at:]) != nil {
			return corrupt(f, "it ends before its index")
		}
		if at += ltx.PageHeaderSize; hdr.IsZero() {
			return nil
		}
		if hdr.Flags&ltx.PageHeaderFlagSize == 0 || len(data)-at < 4 {
			return corrupt(f, "page %d has an unknown format", hdr.Pgno)
		}
		n := binary.BigEndian.Uint32(data[at:])
		if at += 4; int64(n) > int64(len(data)-at) {
			return corrupt(f, "page %d claims to have %d bytes", hdr.Pgno, n)
		}
		at += int(n)
	}
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
