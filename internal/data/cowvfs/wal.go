package cowvfs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The file format of the WAL: https://sqlite.org/fileformat2.html#walformat.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	walMagic        = 0x377f0682 // the lowest bit says that checksums are big-endian
	walVersion      = 3007000
)

// salts identify one generation of a WAL: they change each time it restarts.
type salts [8]byte

func (s salts) words() (uint32, uint32) {
	return be32(s[:4]), be32(s[4:])
}

// generation is a decoded header of a WAL.
type generation struct {
	salts    salts
	pageSize uint32
	order    binary.ByteOrder // of checksums
	sum      [2]uint32
}

func (g *generation) frameSize() int64 { return frameHeaderSize + int64(g.pageSize) }

// offset is the offset of frame i, from 0.
func (g *generation) offset(i int) int64 { return walHeaderSize + int64(i)*g.frameSize() }

// index is the number of the frame at off, or -1.
func (g *generation) index(off int64) int {
	if g.pageSize == 0 || off < walHeaderSize || (off-walHeaderSize)%g.frameSize() != 0 {
		return -1
	}
	return int((off - walHeaderSize) / g.frameSize())
}

// parseGeneration decodes a header; ok is false when the engine would treat the whole file as
// empty because of it.
func parseGeneration(h []byte) (g generation, ok bool) {
	if len(h) < walHeaderSize {
		return g, false
	}
	magic := be32(h)
	if magic&^1 != walMagic || be32(h[4:]) != walVersion {
		return g, false
	}
	size := be32(h[8:])
	if size < 512 || size > 65536 || size&(size-1) != 0 {
		return g, false
	}
	g = generation{salts: salts(h[16:24]), pageSize: size, order: binary.LittleEndian}
	if magic&1 != 0 {
		g.order = binary.BigEndian
	}
	g.sum = walSum(g.order, [2]uint32{}, h[:24])
	return g, g.sum == [2]uint32{be32(h[24:]), be32(h[28:])}
}

// walSum continues the checksum s over b, whose length is a multiple of 8.
func walSum(order binary.ByteOrder, s [2]uint32, b []byte) [2]uint32 {
	s0, s1 := s[0], s[1]
	for ; len(b) >= 8; b = b[8:] {
		s0 += order.Uint32(b) + s1
		s1 += order.Uint32(b[4:]) + s0
	}
	return [2]uint32{s0, s1}
}

// walImage is the content of a WAL as the engine recovers it.
type walImage struct {
	generation
	pages     []uint32 // the page in each frame
	committed int      // number of committed frames
	size      uint32   // of the database in pages, at the last of them
}

// readWAL reads the WAL at path as the engine recovers it. Without a valid file the image is
// empty.
func readWAL(path string) (walImage, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return walImage{}, nil
	}
	if err != nil {
		return walImage{}, err
	}
	defer f.Close()
	img, err := scanWAL(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return walImage{}, fmt.Errorf("read %s: %w", path, err)
	}
	return img, nil
}

func scanWAL(r io.Reader) (img walImage, err error) {
	var head [walHeaderSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return img, unlessEnd(err)
	}
	g, ok := parseGeneration(head[:])
	if !ok {
		return img, nil
	}
	img.generation = g
	frame := make([]byte, g.frameSize())
	for sum := g.sum; ; {
		if _, err := io.ReadFull(r, frame); err != nil {
			img.pages = img.pages[:img.committed]
			return img, unlessEnd(err)
		}
		sum = walSum(g.order, walSum(g.order, sum, frame[:8]), frame[frameHeaderSize:])
		page := be32(frame)
		if page == 0 || salts(frame[8:16]) != g.salts || sum != [2]uint32{be32(frame[16:]), be32(frame[20:])} {
			img.pages = img.pages[:img.committed]
			return img, nil
		}
		img.pages = append(img.pages, page)
		if size := be32(frame[4:]); size != 0 {
			img.committed, img.size = len(img.pages), size
		}
	}
}

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// indexHeader is the part of the wal-index header, in the machine's byte order, that says what
// is committed.
type indexHeader struct {
	frames int
	size   uint32
	salts  salts
}

const indexHeaderSize = 48

func parseIndex(b []byte) indexHeader {
	return indexHeader{
		frames: int(binary.NativeEndian.Uint32(b[16:])),
		size:   binary.NativeEndian.Uint32(b[20:]),
		salts:  salts(b[32:40]),
	}
}
