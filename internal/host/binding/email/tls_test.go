package email_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/email"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// secureServer is a mail server with a certificate for localhost, by TLS from the first byte
// or after STARTTLS. It gives what it was told.
func secureServer(t *testing.T, config *tls.Config, implicit bool) (address string, told <-chan string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard, done := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if implicit {
				heard <- converse(tls.Server(conn, config))
			} else {
				heard <- upgrade(conn, config)
			}
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port, heard
}

// upgrade answers as a server that takes no mail without TLS.
func upgrade(conn net.Conn, config *tls.Config) string {
	_, _ = fmt.Fprintf(conn, "220 ready\r\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() && lines.Text() != "STARTTLS" {
		if !strings.HasPrefix(lines.Text(), "EHLO") {
			_ = conn.Close()
			return "in clear: " + lines.Text()
		}
		_, _ = fmt.Fprintf(conn, "250-here\r\n250 STARTTLS\r\n")
	}
	_, _ = fmt.Fprintf(conn, "220 begin\r\n")
	return answer(tls.Server(conn, config))
}

// TestRelayTLS: a message goes to a mail server by TLS from the first byte, and by STARTTLS,
// and to none whose certificate is unknown.
func TestRelayTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile := svctest.NewAuthority(t).Write(t, t.TempDir(), "localhost")
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	for _, implicit := range []bool{true, false} {
		for roots, want := range map[string]string{certFile: "string", "": "E_INTERNAL_SERVER_ERROR the mail server"} {
			t.Run(fmt.Sprintf("implicit %v, known %v", implicit, roots != ""), func(t *testing.T) {
				t.Parallel()
				address, told := secureServer(t, config, implicit)
				kind := email.Kind{Relay: svc.MailRelay{Address: address, TLS: implicit, User: "user", Password: "pass-word", RootCert: roots}}
				set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{kind}, declared(`{}`))
				w := bindingtest.Start(t, set, sender)
				if got := w.Post(t, "/", `{"from": "shop@example.com", "to": "a@example.com", "text": "hello"}`); !strings.HasPrefix(got, want) {
					t.Error(got)
				}
				got := svctest.Wait(t, "the conversation", told)
				if all := strings.Contains(got, "AUTH PLAIN") && strings.Contains(got, "\nhello\n"); all != (roots != "") {
					t.Errorf("the server was told %q", got)
				}
			})
		}
	}
}
