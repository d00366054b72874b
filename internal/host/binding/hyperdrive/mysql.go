package hyperdrive

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
)

// schemeMySQL is that of MySQL and MariaDB.
const schemeMySQL = "mysql"

// Flags of a client's or a server's capabilities.
const (
	clientProtocol41 = 1 << 9
	clientSSL        = 1 << 11
)

// First bytes of what a server sends until the driver is logged in.
const (
	markOK     = 0x00
	markMore   = 0x01 // the plugin of the login has more to say
	markSwitch = 0xfe // another plugin for the login
	markError  = 0xff
)

// helloSize is the size in bytes of what a client's first packet begins with: capabilities, the
// largest packet, the character set and zeros. Alone, it asks for TLS.
const helloSize = 32

// mysql is the session of a driver for MySQL or MariaDB. The server speaks first, and the driver's
// answer to it has to be sent by TLS, so the session repeats the login packet by packet: the server
// counts one packet more, that which asks for TLS. Where the server wants the password itself,
// which a driver sends by TLS only, the session sends it.
type mysql struct {
	worker, server packets
	password       string
}

func (s *mysql) open(ctx context.Context, database net.Conn, config *tls.Config) (*tls.Conn, error) {
	s.server.conn = database
	hello, err := s.greet()
	if err != nil {
		return nil, err
	}
	if err := s.server.write(hello[:helloSize]); err != nil {
		return nil, err
	}
	secure := tls.Client(database, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	s.server.conn = secure
	if err := s.server.write(hello); err != nil {
		return nil, err
	}
	return secure, s.login()
}

// greet has the driver answer the greeting of a server that seems to have no TLS, and returns the
// answer of a driver that uses it.
func (s *mysql) greet() (hello []byte, err error) {
	greeting, err := s.said()
	if err != nil {
		return nil, err
	}
	if greeting[0] == markError {
		return nil, fmt.Errorf("the server refuses the connection: %s", greeting[min(3, len(greeting)):])
	}
	// The version, a text; then the number of the connection, half of the nonce, a zero and half
	// of the capabilities.
	end := bytes.IndexByte(greeting, 0)
	at := end + 1 + 4 + 8 + 1
	if end < 0 || len(greeting) < at+2 {
		return nil, errors.New("the server does not greet as MySQL does")
	}
	if greeting[at+1]&(clientSSL>>8) == 0 {
		return nil, errNoTLS
	}
	greeting[at+1] &^= clientSSL >> 8
	if err := s.worker.write(greeting); err != nil {
		return nil, err
	}
	if hello, err = s.worker.read(); err != nil {
		return nil, err
	}
	if len(hello) < helloSize || binary.LittleEndian.Uint16(hello)&clientProtocol41 == 0 {
		return nil, errors.New("the driver does not use the protocol of MySQL 4.1")
	}
	hello[1] |= clientSSL >> 8
	return hello, nil
}

// said is the next packet of the server, which is never empty.
func (s *mysql) said() ([]byte, error) {
	packet, err := s.server.read()
	if err == nil && len(packet) == 0 {
		err = errors.New("the server sends an empty packet")
	}
	return packet, err
}

// login repeats packets until the server has decided.
func (s *mysql) login() error {
	for {
		packet, err := s.said()
		if err != nil {
			return err
		}
		if wantsPassword(packet) {
			err = s.server.write(append([]byte(s.password), 0))
		} else {
			err = s.worker.write(packet)
		}
		switch {
		case err != nil:
			return err
		case packet[0] == markOK, packet[0] == markError: // of a refused driver the server closes the connection
			return nil
		case wantsPassword(packet), isFastLogin(packet):
			continue
		}
		answer, err := s.worker.read()
		if err == nil {
			err = s.server.write(answer)
		}
		if err != nil {
			return err
		}
	}
}

// wantsPassword reports whether a server that is reached by TLS waits for the password itself: its
// cache has no hash for caching_sha2_password, or the plugin knows no other way. A driver that
// thinks that there is no TLS asks for a key instead, to encrypt the password.
func wantsPassword(packet []byte) bool {
	const full = 4 // of caching_sha2_password
	if packet[0] == markMore {
		return len(packet) == 2 && packet[1] == full
	}
	plugin, _, _ := bytes.Cut(packet[1:], []byte{0})
	return packet[0] == markSwitch && (string(plugin) == "sha256_password" || string(plugin) == "mysql_clear_password")
}

// isFastLogin reports whether the server says that its cache has the hash: an OK follows.
func isFastLogin(packet []byte) bool {
	const fast = 3
	return len(packet) == 2 && packet[0] == markMore && packet[1] == fast
}

// failure is the packet ERR, in the form of the moment: a greeting without a state.
func (s *mysql) failure(text string) []byte {
	const connectionError = 2026 // "SSL connection error" of MySQL's own client
	packet := binary.LittleEndian.AppendUint16([]byte{markError}, connectionError)
	if s.worker.next > 0 {
		packet = append(packet, "#08001"...)
	}
	return s.worker.frame(append(packet, text...))
}
