package http1

import "bytes"

// maxTrailer is the maximum size of the trailer section of a body, in bytes.
const maxTrailer = 8 << 10

// maxChunkLine is the maximum length of the line with a chunk's size, in bytes: 15
// digits, and extensions, which are dropped.
const maxChunkLine = 256

// Chunked decodes a chunked body (RFC 9112, 7.1) piece by piece. The zero value
// expects the first byte of a body.
type Chunked struct {
	// Trailer holds the lines of the trailer section behind the last chunk, each of
	// them checked and with its CR LF.
	Trailer []byte

	state  chunkState
	left   int64 // of the chunk's data
	digits int
	line   int // bytes of the line so far
}

type chunkState uint8

const (
	chunkSize    chunkState = iota // in the digits of a size
	chunkExt                       // in an extension
	chunkLF                        // before the LF of a size line
	chunkData                      // in data
	chunkDataCR                    // before the CR behind data
	chunkDataLF                    // before the LF behind data
	chunkTrailer                   // in the trailer section
	chunkDone
)

// Decode decodes b and moves the data to the front of b, in place. It returns the
// number of data bytes and the number of bytes of b that it used; it uses all of
// them, unless the body ends before.
func (c *Chunked) Decode(b []byte) (data, used int, err error) {
	for used < len(b) && c.state != chunkDone {
		if c.state == chunkData {
			n := int(min(c.left, int64(len(b)-used)))
			copy(b[data:], b[used:used+n])
			data, used, c.left = data+n, used+n, c.left-int64(n)
			if c.left == 0 {
				c.state = chunkDataCR
			}
			continue
		}
		if err := c.step(b[used]); err != nil {
			return data, used, err
		}
		used++
	}
	return data, used, nil
}

// Done reports whether the body has ended.
func (c *Chunked) Done() bool { return c.state == chunkDone }

// step processes one byte that is not data.
func (c *Chunked) step(b byte) error {
	switch c.state {
	case chunkSize, chunkExt:
		return c.sizeLine(b)
	case chunkLF:
		return c.sizeEnd(b)
	case chunkDataCR:
		c.state = chunkDataLF
		return want(b, '\r')
	case chunkDataLF:
		c.state, c.digits, c.line = chunkSize, 0, 0
		return want(b, '\n')
	case chunkTrailer:
		return c.trailer(b)
	case chunkData, chunkDone:
	}
	return nil
}

func want(b, w byte) error {
	if b != w {
		return bad("a chunk is not framed by CR LF")
	}
	return nil
}

func (c *Chunked) sizeLine(b byte) error {
	if c.line++; c.line > maxChunkLine {
		return bad("a chunk's size line is too long")
	}
	if c.state == chunkSize {
		if d, ok := hexDigit(b); ok {
			if c.digits++; c.digits > 15 {
				return bad("a chunk is too large")
			}
			c.left = c.left<<4 | int64(d)
			return nil
		}
	}
	switch {
	case c.digits == 0:
		return bad("a chunk has no size")
	case b == '\r':
		c.state = chunkLF
	case c.state == chunkExt && (b >= ' ' && b != 0x7f || b == '\t'), b == ';':
		c.state = chunkExt
	default:
		return bad("a chunk's size is not a hexadecimal number")
	}
	return nil
}

func (c *Chunked) sizeEnd(b byte) error {
	c.state = chunkData
	if c.left == 0 {
		c.state = chunkTrailer
	}
	return want(b, '\n')
}

// trailer collects lines until the empty one and checks them.
func (c *Chunked) trailer(b byte) error {
	if len(c.Trailer) == maxTrailer {
		return &Error{Status: 431, Detail: "the trailer section is too large"}
	}
	c.Trailer = append(c.Trailer, b)
	if b != '\n' {
		return nil
	}
	start := bytes.LastIndexByte(c.Trailer[:len(c.Trailer)-1], '\n') + 1
	line, _, err := cutLine(c.Trailer[start:])
	if err != nil {
		return err
	}
	if len(line) == 0 {
		c.Trailer, c.state = c.Trailer[:start], chunkDone
		return nil
	}
	f, err := parseField(line)
	if err == nil && f.Kind != Other {
		c.Trailer = c.Trailer[:start] // framing has no place in a trailer
	}
	return err
}

func hexDigit(b byte) (byte, bool) {
	switch {
	case '0' <= b && b <= '9':
		return b - '0', true
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10, true
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10, true
	}
	return 0, false
}

// AppendChunkSize appends the size line of a chunk with n bytes.
func AppendChunkSize(dst []byte, n int) []byte {
	const digits = "0123456789abcdef"
	shift := 0
	for n>>shift > 15 {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, digits[n>>shift&15])
	}
	return append(dst, '\r', '\n')
}
