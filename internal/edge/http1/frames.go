package http1

// Frames tracks the frames of a websocket stream (RFC 6455, 5.2) without storing
// them. It knows where frames end, so that a frame can be inserted between two of
// them. The zero value is at the start of a frame.
type Frames struct {
	header [14]byte
	have   int    // bytes of the header
	left   uint64 // bytes of payload to come
	in     bool   // in the payload
	closed bool
}

const (
	opClose   = 0x8
	maskedBit = 0x80
)

// Next processes b, the next part of the stream, and returns the length of the part
// of b up to the end of the last frame that ends in b: 0 if no frame ends in b.
func (f *Frames) Next(b []byte) int {
	whole := 0
	for i := 0; i < len(b); {
		if f.in {
			n := min(f.left, uint64(len(b)-i))
			i += int(n) //nolint:gosec // G115: at most len(b)
			f.left -= n
		} else {
			f.header[f.have] = b[i]
			f.have++
			i++
			f.readHeader()
		}
		if f.in && f.left == 0 {
			*f = Frames{closed: f.closed}
			whole = i
		}
	}
	return whole
}

// Boundary reports whether the stream is between two frames.
func (f *Frames) Boundary() bool { return f.have == 0 && !f.in }

// Closed reports whether a close frame has begun; no frame may follow it.
func (f *Frames) Closed() bool { return f.closed }

// readHeader begins the payload if the header is complete.
func (f *Frames) readHeader() {
	if f.have < 2 {
		return
	}
	size := 2
	short := f.header[1] &^ maskedBit
	switch short {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	lengthEnd := size
	if f.header[1]&maskedBit != 0 {
		size += 4
	}
	if f.have < size {
		return
	}
	f.left = uint64(short)
	if lengthEnd > 2 {
		f.left = 0
		for _, c := range f.header[2:lengthEnd] {
			f.left = f.left<<8 | uint64(c)
		}
	}
	f.in = true
	f.closed = f.closed || f.header[0]&0x0f == opClose
}

// AppendClose appends the unmasked close frame of a server.
func AppendClose(b []byte, code uint16, reason string) []byte {
	b = append(b, 0x80|opClose, byte(2+len(reason)), byte(code>>8), byte(code)) //nolint:gosec // G115: reasons are short constants
	return append(b, reason...)
}
