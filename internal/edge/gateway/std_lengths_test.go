package gateway

import (
	"bytes"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// lengths finds heads with two lengths of their body: Content-Length and Transfer-Encoding.
// net/http removes the first one and serves such a request. The connection must end with it,
// because another server in front may have read the other length, and what follows the body would
// be a request of another client (RFC 9112, 6.3).
type lengths struct {
	both atomic.Bool // a head of the connection had both

	line           []byte // the begin of the current line
	length, coding bool   // seen in the current head
}

// maxName is longer than the names of both fields, with their colon.
const maxName = 24

// see reads what the client has sent. Lines of bodies count too, which at worst ends a connection
// that could stay open.
func (l *lengths) see(b []byte) {
	for len(b) > 0 {
		part, rest, ended := b, []byte(nil), false
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			part, rest, ended = b[:i], b[i+1:], true
		}
		l.line = append(l.line, part[:min(len(part), maxName-len(l.line))]...)
		if b = rest; ended {
			l.endLine(bytes.TrimSuffix(l.line, []byte{'\r'}))
			l.line = l.line[:0]
		}
	}
}

func (l *lengths) endLine(line []byte) {
	name, _, _ := bytes.Cut(line, []byte{':'})
	switch {
	case len(line) == 0:
		if l.length && l.coding {
			l.both.Store(true)
		}
		l.length, l.coding = false, false
	case http1.EqualFold(name, "content-length"):
		l.length = true
	case http1.EqualFold(name, "transfer-encoding"):
		l.coding = true
	}
}
