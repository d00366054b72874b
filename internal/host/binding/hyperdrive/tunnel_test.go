package hyperdrive_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/hyperdrive"
	"github.com/svcctl/svcctl/internal/svc"
)

// postgres is a server that answers a line after the handshake for TLS, as PostgreSQL has it.
// Without a certificate it has no TLS. It is reached as localhost.
func postgres(t *testing.T, cert *tls.Certificate) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn, cert)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-served })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port
}

func serve(conn net.Conn, cert *tls.Certificate) {
	defer conn.Close()
	request := make([]byte, 8)
	if _, err := io.ReadFull(conn, request); err != nil || string(request) != "\x00\x00\x00\x08\x04\xd2\x16\x2f" {
		return
	}
	if cert == nil {
		_, _ = conn.Write([]byte("N"))
		return
	}
	_, _ = conn.Write([]byte("S"))
	secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12})
	defer secure.Close()
	if line, err := bufio.NewReader(secure).ReadString('\n'); err == nil {
		_, _ = secure.Write([]byte("you said " + line))
	}
}

const talker = `export default { async fetch(request, { B }) {
	const socket = B.connect(), writer = socket.writable.getWriter();
	await writer.write(new TextEncoder().encode("hello\n")).catch(() => {});
	return new Response((await new Response(socket.readable).text()).trim());
} };`

// TestTLS: a worker that speaks without TLS reaches a database that is served by it, and
// learns why it does not.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, certFile := certificate(t, "localhost")
	with, without := postgres(t, cert), postgres(t, nil)
	for name, c := range map[string]struct{ address, mode, roots, want string }{
		"require":     {with, svc.TLSRequire, "", "you said hello"},
		"verified":    {with, svc.TLSVerify, certFile, "you said hello"},
		"unknown":     {with, svc.TLSVerify, "", "certificate signed by unknown authority"},
		"without TLS": {without, svc.TLSRequire, "", "the server has no TLS"},
		"no server":   {"localhost:1", svc.TLSRequire, "", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := svc.ForeignDatabase{ID: "a1", Scheme: "postgresql", Address: c.address, User: "u", Password: "p", Database: "shop", TLS: c.mode, RootCert: c.roots}
			kind := hyperdrive.Kind{Databases: []svc.ForeignDatabase{db}, RunDir: bindingtest.Dir(t)}
			w := bindingtest.Start(t, bindingtest.OpenSet(t, nil, []binding.Kind{kind}, good), talker)
			if got := w.Post(t, "/", ""); !strings.Contains(got, c.want) || c.want[0] != 'y' && !strings.HasPrefix(got, "E\x00\x00") {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestNoRoots: a file without certificates fails the start of the version.
func TestNoRoots(t *testing.T) {
	t.Parallel()
	db := svc.ForeignDatabase{ID: "a1", Scheme: "postgresql", Address: "localhost:1", TLS: svc.TLSVerify, RootCert: "tunnel_test.go"}
	_, err := hyperdrive.Kind{Databases: []svc.ForeignDatabase{db}, RunDir: t.TempDir()}.Open(t.Context(), good, nil)
	if err == nil || err.Error() != "hyperdrive a1: tunnel_test.go has no certificate" {
		t.Error(err)
	}
}
