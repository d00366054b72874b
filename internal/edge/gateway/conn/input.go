package conn

import "io"

// InputSize is the size of the input buffer: most requests fit, with their body.
const InputSize = 16 << 10

// input holds the bytes that a client has sent and that are not used yet:
// buf[r:w]. The heads of requests are parsed in place, so the bytes before r do not
// change until reset.
type input struct {
	buf  []byte
	r, w int
}

func (in *input) bytes() []byte { return in.buf[in.r:in.w] }

func (in *input) len() int { return in.w - in.r }

// use removes n bytes from the front.
func (in *input) use(n int) { in.r += n }

// fill calls r.Read once. The input must not be full.
func (in *input) fill(r io.Reader) (int, error) {
	n, err := r.Read(in.buf[in.w:])
	in.w += n
	return n, err
}

func (in *input) full() bool { return in.w == len(in.buf) }

// reset drops the used bytes after a request, and returns to the buffer home if
// the remaining bytes fit.
func (in *input) reset(home []byte) {
	buf := in.buf
	if len(buf) > len(home) && in.len() <= len(home) {
		buf = home
	}
	in.w = copy(buf, in.bytes())
	in.r, in.buf = 0, buf
}

// reserve ensures space for n more bytes. It allocates a new buffer, because parsed
// heads may point at the bytes of the old one.
func (in *input) reserve(n int) {
	if len(in.buf)-in.w >= n {
		return
	}
	buf := make([]byte, max(2*in.len(), in.len()+n, InputSize))
	in.w = copy(buf, in.bytes())
	in.r, in.buf = 0, buf
}
