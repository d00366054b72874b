package calls

import (
	"io"
	"net"
	"sync"
)

const bufferSize = 16 << 10

//nolint:gochecknoglobals // a pool
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// pipe copies between two connections until one of them ends, and closes both.
func pipe(a, b net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		carry(b, a)
	}()
	carry(a, b)
	<-done
}

// carry copies from src to dst, and closes both at the end of either.
func carry(dst, src net.Conn) {
	buffer, _ := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	_, _ = io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, buffer[:]) // the other side sees the end
	_ = dst.Close()
	_ = src.Close()
}
