package hyperdrive

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// sslRequest asks a PostgreSQL server for TLS, which answers with the byte S or N.
var sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47} //nolint:gochecknoglobals // a constant

// postgres is the session of a driver for PostgreSQL, which speaks first: what it says waits until the tunnel is open.
type postgres struct{}

func (postgres) open(ctx context.Context, database net.Conn, config *tls.Config) (*tls.Conn, error) {
	if _, err := database.Write(sslRequest); err != nil {
		return nil, err
	}
	var answer [1]byte
	if _, err := io.ReadFull(database, answer[:]); err != nil {
		return nil, err
	}
	if answer[0] != 'S' {
		return nil, errNoTLS
	}
	secure := tls.Client(database, config)
	return secure, secure.HandshakeContext(ctx)
}

var errNoTLS = errors.New("the server has no TLS")

// failure is the message ErrorResponse.
func (postgres) failure(text string) []byte {
	fields := "SFATAL\x00VFATAL\x00C08001\x00M" + text + "\x00\x00"
	return append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4)), fields...) //nolint:gosec // a short text
}
