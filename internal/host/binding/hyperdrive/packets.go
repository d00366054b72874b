package hyperdrive

import (
	"errors"
	"io"
	"net"
)

// packetLimit is the largest packet of a login, in bytes. The protocol allows 16 MiB.
const packetLimit = 1 << 16

// packets are those of MySQL's protocol on a connection, until the login is over: a length of three
// bytes, a number that both sides count on, and the content.
type packets struct {
	conn net.Conn
	next byte // the number of the next packet, of either side
}

// read returns the content of the next packet.
func (p *packets) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(p.conn, head[:]); err != nil {
		return nil, err
	}
	size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if size > packetLimit || head[3] != p.next {
		return nil, errors.New("a packet of the login does not follow MySQL's protocol")
	}
	p.next++
	content := make([]byte, size)
	_, err := io.ReadFull(p.conn, content)
	return content, err
}

func (p *packets) write(content []byte) error {
	_, err := p.conn.Write(p.frame(content))
	p.next++
	return err
}

// frame is the next packet.
func (p *packets) frame(content []byte) []byte {
	n := len(content)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), p.next}, content...) //nolint:gosec // three bytes of it
}
