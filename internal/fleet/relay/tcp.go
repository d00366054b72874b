package relay

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/lib/dial"
)

// lostAfter is when a connection to a machine ends that does not answer any more. Then the daemon
// that knows of the machine's loss has opened the version elsewhere, or is about to.
const lostAfter = 5 * time.Second

// serverLostAfter is the same for a connection to a server: another one leads soon after that.
const serverLostAfter = 3 * time.Second

// DialServer connects to a server, with TLS unless secure is nil. The connection ends 3 seconds after
// the server's machine has stopped to answer.
func DialServer(ctx context.Context, address string, secure *tls.Config) (net.Conn, error) {
	nc, err := dial.Service(ctx, address, serverLostAfter)
	if err != nil || secure == nil {
		return nc, err
	}
	if secure.ServerName == "" {
		secure = secure.Clone()
		secure.ServerName, _, _ = net.SplitHostPort(address)
	}
	return encrypted(ctx, nc, secure)
}

// encrypted begins TLS. After an error nc is closed.
func encrypted(ctx context.Context, nc net.Conn, secure *tls.Config) (net.Conn, error) {
	c := tls.Client(nc, secure)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, err
	}
	return c, nil
}
