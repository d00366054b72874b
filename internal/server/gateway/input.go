package gateway

import "io"

// inputSize is what a connection reads at once: most requests, body included.
const inputSize = 16 << 10

// input is what a client has sent and nobody has used yet: buf[r:w]. The heads
// of requests are parsed in place, so bytes before r stay as they are until
// reset.
type input struct {
	buf  []byte
	r, w int
}

func (in *input) bytes() []byte { return in.buf[in.r:in.w] }

func (in *input) len() int { return in.w - in.r }

// use drops n bytes from the front.
func (in *input) use(n int) { in.r += n }

// fill reads once from r. The input must not be full.
func (in *input) fill(r io.Reader) (int, error) {
	n, err := r.Read(in.buf[in.w:])
	in.w += n
	return n, err
}

func (in *input) full() bool { return in.w == len(in.buf) }

// reset forgets what was used, as the request before is over, and goes back to
// the buffer home when what is left fits.
func (in *input) reset(home []byte) {
	buf := in.buf
	if len(buf) > len(home) && in.len() <= len(home) {
		buf = home
	}
	in.w = copy(buf, in.bytes())
	in.r, in.buf = 0, buf
}

// reserve makes room for n more bytes. It takes a new buffer rather than move
// bytes that parsed heads may point at.
func (in *input) reserve(n int) {
	if len(in.buf)-in.w >= n {
		return
	}
	buf := make([]byte, max(2*in.len(), in.len()+n, inputSize))
	in.w = copy(buf, in.bytes())
	in.r, in.buf = 0, buf
}
