package join

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/lib/dial"
	"github.com/svcctl/svcctl/internal/svc"
)

// joinLimit is the time for connecting and for both messages, at either end.
const joinLimit = 10 * time.Second

// lostAfter is when a line ends whose daemon's machine does not answer any more: another one may lead
// soon after that, and a machine keeps its versions if it has dialed that one in time.
const lostAfter = 3 * time.Second

// protocol is what both ends agree on in the TLS handshake.
const protocol = "svchost/1"

// Dial connects with the daemon at addr, whose authority t pins, and says h. The caller closes
// the connection. Errors are svc.Errors: host_daemon_untrusted, and what the daemon answers;
// others mean that there is no connection.
func Dial(ctx context.Context, addr string, t Token, h Hello) (net.Conn, Welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	conn, err := connect(ctx, addr, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		InsecureSkipVerify: true, //nolint:gosec // the pin takes the place of names and of known authorities
		VerifyConnection:   func(s tls.ConnectionState) error { return verify(s.PeerCertificates, t.Pin, time.Now()) },
	})
	if err != nil {
		if e, ok := errors.AsType[*svc.Error](err); ok {
			return nil, Welcome{}, e
		}
		return nil, Welcome{}, fmt.Errorf("connecting with the daemon at %s: %w", addr, err)
	}
	w, err := greet(conn, h)
	if err != nil {
		_ = conn.Close()
		return nil, w, err
	}
	return conn, w, nil
}

func connect(ctx context.Context, addr string, c *tls.Config) (net.Conn, error) {
	plain, err := dial.Service(ctx, addr, lostAfter)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(plain, c)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return conn, nil
}

func greet(conn net.Conn, h Hello) (w Welcome, err error) {
	if err := conn.SetDeadline(time.Now().Add(joinLimit)); err != nil {
		return w, err
	}
	if err := WriteHello(conn, h); err != nil {
		return w, err
	}
	if w, err = ReadWelcome(conn); err != nil {
		return w, err
	}
	if w.Error != nil {
		return w, w.Error
	}
	return w, conn.SetDeadline(time.Time{})
}

// verify checks that the authority with the pin has issued the certificate of the daemon.
func verify(chain []*x509.Certificate, pin string, now time.Time) error {
	if len(chain) != 2 || Pin(chain[1]) != pin {
		return svc.Errorf(svc.Forbidden, svc.CodeHostDaemonUntrusted, "the daemon does not have the key that the join token pins").
			WithHint("check the address after --join, or get a new token with svcctl admin hosts token")
	}
	roots := x509.NewCertPool()
	roots.AddCert(chain[1])
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return Skewed(fmt.Sprintf("it is %s here, and the certificate of the daemon is valid from %s to %s",
			now.UTC().Format(time.RFC3339), chain[0].NotBefore.Format(time.RFC3339), chain[0].NotAfter.Format(time.RFC3339)))
	}
	if err != nil {
		return svc.Errorf(svc.Forbidden, svc.CodeHostDaemonUntrusted, "the certificate of the daemon is not of the authority that the join token pins").Because(err)
	}
	return nil
}

// Skewed is the error of a machine whose clock differs from that of the daemon.
func Skewed(detail string) *svc.Error {
	return svc.Errorf(svc.Conflict, svc.CodeHostClockSkew, "the clocks of this machine and of the daemon differ: %s", detail).
		WithHint("set the clock, for example by NTP")
}
