package relay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// The kinds of frames.
const (
	kindBegin  = byte('B') // to the server: a request follows
	kindData   = byte('D') // both ways
	kindEnd    = byte('E') // to the server: the exchange is complete
	kindSocket = byte('W') // to the server: the request has opened a websocket

	kindAdmitted = byte('A') // to the gateway: the runtime is claimed
	kindMoved    = byte('M') // to the gateway: another table says where the request belongs
	kindFull     = byte('F') // to the gateway: the version has its maximum of requests
	kindUnread   = byte('N') // to the gateway: the runtime has closed its connection without reading the request
)

const (
	headSize = 4
	// maxFrame is the maximum length of a frame's content in bytes.
	maxFrame = 64 << 10
)

// Errors of a request.
var (
	// ErrNotAdmitted says that no byte of the request has reached a runtime.
	ErrNotAdmitted = errors.New("the request was not admitted")
	// ErrFull says that the version serves as many requests as it may. It is an ErrNotAdmitted.
	ErrFull = fmt.Errorf("the version serves too many requests: %w", ErrNotAdmitted)
	// ErrUnread says that the runtime has closed a connection without reading the request.
	ErrUnread = errors.New("the runtime did not read the request")
	// errProtocol is a violation of the protocol by the other end.
	errProtocol = errors.New("relay: malformed frame")
)

// MovedError says that the request belongs elsewhere, or waits, by the route table of a
// generation. It is an ErrNotAdmitted.
type MovedError struct{ Generation uint64 }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the route table of generation %d says otherwise", e.Generation)
}

// Unwrap returns ErrNotAdmitted.
func (*MovedError) Unwrap() error { return ErrNotAdmitted }

// Ask describes a request that a gateway wants to send to a runtime.
type Ask struct {
	Ref     svc.Ref
	Key     string // of the runtime's start
	Role    svc.Role
	Preview string // the preview name whose host the request has; "" for none
}

// appendHead appends the head of a frame with n bytes.
func appendHead(b []byte, kind byte, n int) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(kind)<<24|uint32(n)) //nolint:gosec // n is at most maxFrame
}

// appendFrame appends a whole frame.
func appendFrame(b []byte, kind byte, content []byte) []byte {
	return append(appendHead(b, kind, len(content)), content...)
}

// appendData appends b as data frames.
func appendData(out, b []byte) []byte {
	for len(b) > maxFrame {
		out = appendFrame(out, kindData, b[:maxFrame])
		b = b[maxFrame:]
	}
	return appendFrame(out, kindData, b)
}

// readHead reads the head of a frame. After an error because of a deadline it can be called
// again.
func readHead(r *bufio.Reader) (kind byte, n int, err error) {
	b, err := r.Peek(headSize)
	if err != nil {
		return 0, 0, err
	}
	h := binary.BigEndian.Uint32(b)
	if n = int(h & (1<<24 - 1)); n > maxFrame {
		return 0, 0, errProtocol
	}
	_, _ = r.Discard(headSize) // it was peeked at
	return byte(h >> 24), n, nil
}

// appendBegin appends the frame before a request.
func appendBegin(b []byte, role svc.Role, preview string) []byte {
	kind := byte('v')
	if role == svc.RoleProduction {
		kind = 'p'
	}
	return appendFrame(b, kindBegin, append([]byte{kind}, preview...))
}

// begin reads the content of that frame.
func (a *Ask) begin(content []byte) error {
	if len(content) == 0 {
		return errProtocol
	}
	a.Role, a.Preview = svc.RolePreview, string(content[1:])
	if content[0] == 'p' {
		a.Role = svc.RoleProduction
	}
	return nil
}
