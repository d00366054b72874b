package front

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"time"
)

// counted is the answer of one request. An answer that does not end by itself, a
// websocket or a stream of events, counts the request out when it begins: no switch
// waits for it.
type counted struct {
	http.ResponseWriter
	began   time.Time
	pass    pass // zero for an answer of the front
	status  int
	version string
}

// WriteHeader sends the head.
func (c *counted) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		c.status = status
		c.pass.answer()
	}
	endless := status == http.StatusSwitchingProtocols || strings.HasPrefix(c.Header().Get("Content-Type"), "text/event-stream")
	if endless {
		c.pass.leave()
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (c *counted) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	return c.ResponseWriter.Write(p)
}

// Hijack takes the connection over, for a websocket.
func (c *counted) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.status = http.StatusSwitchingProtocols
		c.pass.leave()
	}
	return conn, rw, err
}

// Unwrap lets http.ResponseController find the other methods.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
