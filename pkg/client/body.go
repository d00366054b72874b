package client

import (
	"io"
	"net/http"
	"sync"
)

// counter is a Reader that reports how many bytes were read through it.
type counter struct {
	next     io.Reader
	sent     int64
	progress func(int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.next.Read(p)
	c.sent += int64(n)
	if c.progress != nil && n > 0 {
		c.progress(c.sent)
	}
	return n, err
}

// untilOver returns progress limited to the time before over is called: the
// response may arrive while the body is still being read.
func untilOver(progress func(int64)) (limited func(int64), over func()) {
	var mu sync.Mutex
	done := progress == nil
	limited = func(sent int64) {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			progress(sent)
		}
	}
	return limited, func() {
		mu.Lock()
		defer mu.Unlock()
		done = true
	}
}

// sized sets the Content-Length of a request; -1 is unknown.
func sized(size int64) func(*http.Request) {
	return func(r *http.Request) {
		r.ContentLength = size
		if size == 0 {
			r.Body = http.NoBody
		}
	}
}
