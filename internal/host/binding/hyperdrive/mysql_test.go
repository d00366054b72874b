package hyperdrive_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/hyperdrive"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// wire counts packets as MySQL's protocol does, for a server or a client of tests.
type wire struct {
	net.Conn
	next byte
}

func (w *wire) say(content string) error {
	_, err := w.Write(append([]byte{byte(len(content)), 0, 0, w.next}, content...))
	w.next++
	return err
}

func (w *wire) hear() (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(w, head[:]); err != nil {
		return "", err
	}
	if head[3] != w.next {
		return "", fmt.Errorf("the packet has the number %d, want %d", head[3], w.next)
	}
	w.next++
	content := make([]byte, head[0])
	_, err := io.ReadFull(w, content)
	return string(content), err
}

// step is one packet of a login: what one side says, or expects of the other.
type step struct {
	server bool // the server says it
	text   string
	hidden bool // between server and tunnel: the driver does not see it
}

const (
	ok     = "\x00\x00\x00\x02\x00\x00\x00"
	denied = "\xff\x15\x04#28000Access denied"
	hello  = "\x0d\xa2\x3a\x00\x00\x00\x00\x01\xff" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "u\x00\x20scramble"
)

// greeting is that of a server with a nonce; TLS is a bit of its capabilities.
func greeting(withTLS bool) string {
	capabilities := byte(0xf7)
	if withTLS {
		capabilities |= 0x08
	}
	return "\x0a8.4.0\x00\x01\x00\x00\x00nonce678\x00\xff" + string([]byte{capabilities}) + "\xff\x02\x00\xff\xdf\x15" + strings.Repeat("\x00", 10) + "more of nonce\x00caching_sha2_password\x00"
}

// mysqlServer serves logins of these steps and then answers every packet with an OK. Without a
// certificate it has no TLS.
func mysqlServer(t *testing.T, cert *tls.Certificate, steps []step) (address string, result <-chan error) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = serveMySQL(&wire{Conn: conn}, cert, steps)
			_ = conn.Close()
		}
		done <- err
	}()
	t.Cleanup(func() { _ = l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port, done
}

func serveMySQL(w *wire, cert *tls.Certificate, steps []step) error {
	if err := w.say(greeting(cert != nil)); err != nil || cert == nil {
		return err
	}
	secured := "\x0d\xaa" + hello[2:]
	if got, err := w.hear(); err != nil || got != secured[:32] {
		return fmt.Errorf("asked for TLS by %q: %w", got, err)
	}
	secure := tls.Server(w.Conn, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12})
	w = &wire{Conn: secure, next: w.next}
	if got, err := w.hear(); err != nil || got != secured {
		return fmt.Errorf("said hello by %q: %w", got, err)
	}
	for _, s := range steps {
		if s.server {
			if err := w.say(s.text); err != nil {
				return err
			}
		} else if got, err := w.hear(); err != nil || got != s.text {
			return fmt.Errorf("said %q, want %q: %w", got, s.text, err)
		}
	}
	if steps[len(steps)-1].text == denied {
		return nil
	}
	for w.next = 0; ; w.next = 0 {
		if _, err := w.hear(); err != nil {
			return nil //nolint:nilerr // the client has left
		}
		if err := w.say(ok); err != nil {
			return err
		}
	}
}

// login plays the driver, up to the first command.
func login(w *wire, steps []step) error {
	got, err := w.hear()
	if err != nil || got != greeting(false) {
		return fmt.Errorf("the driver is greeted by %q: %w", got, err)
	}
	if err := w.say(hello); err != nil {
		return err
	}
	for _, s := range steps {
		switch {
		case s.hidden:
		case !s.server:
			if err := w.say(s.text); err != nil {
				return err
			}
		default:
			if got, err := w.hear(); err != nil || got != s.text {
				return fmt.Errorf("the driver hears %q, want %q: %w", got, s.text, err)
			}
		}
	}
	return nil
}

// tunnelTo opens the tunnel to a database and connects to it as workerd does.
func tunnelTo(t *testing.T, db svc.ForeignDatabase) *wire {
	t.Helper()
	kind := hyperdrive.Kind{Databases: []svc.ForeignDatabase{db}, RunDir: bindingtest.Dir(t)}
	instance, err := kind.Open(t.Context(), good, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = instance.Close() })
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", filepath.Join(kind.RunDir, "hyperdrive-0.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return &wire{Conn: conn}
}

// TestMySQLLogin: a driver that knows of no TLS logs in by each way that a server may ask for, and
// the first command after it has the numbers of a new exchange on both sides.
func TestMySQLLogin(t *testing.T) {
	t.Parallel()
	cert, roots := certificate(t, "localhost")
	password := step{text: "p\x00", hidden: true}
	for name, steps := range map[string][]step{
		"no question":        {{server: true, text: ok}},
		"known to the cache": {{server: true, text: "\x01\x03"}, {server: true, text: ok}},
		"not in the cache":   {{server: true, text: "\x01\x04", hidden: true}, password, {server: true, text: ok}},
		"another plugin": {
			{server: true, text: "\xfemysql_native_password\x00nonce"}, {text: "another scramble"}, {server: true, text: ok},
		},
		"another plugin, no password": {{server: true, text: "\xfemysql_native_password\x00nonce"}, {text: ""}, {server: true, text: ok}},
		"another plugin, and its cache": {
			{server: true, text: "\xfecaching_sha2_password\x00nonce"},
			{text: "another scramble"},
			{server: true, text: "\x01\x04", hidden: true},
			password,
			{server: true, text: ok},
		},
		"by password only": {{server: true, text: "\xfesha256_password\x00nonce", hidden: true}, password, {server: true, text: ok}},
		"in clear text":    {{server: true, text: "\xfemysql_clear_password\x00", hidden: true}, password, {server: true, text: ok}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, served := mysqlServer(t, cert, steps)
			w := tunnelTo(t, svc.ForeignDatabase{ID: "a1", Scheme: "mysql", Address: address, Password: "p", TLS: svc.TLSVerify, RootCert: roots})
			err := login(w, steps)
			for range 2 {
				w.next = 0
				err = errors.Join(err, w.say("\x0e"))
				got, hearErr := w.hear()
				if err = errors.Join(err, hearErr); err == nil && got != ok {
					t.Errorf("a command is answered by %q", got)
				}
			}
			_ = w.Close()
			if err = errors.Join(err, <-served); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMySQLRefusals: a driver learns in MySQL's form why there is no connection.
func TestMySQLRefusals(t *testing.T) {
	t.Parallel()
	cert, roots := certificate(t, "db.example")
	for name, c := range map[string]struct {
		cert       *tls.Certificate
		mode, root string
		early      bool   // the answer comes in place of the greeting
		want       string // in the answer
	}{
		"another host":       {cert, svc.TLSVerify, roots, false, "certificate is valid for db.example, not localhost"},
		"any host":           {cert, svc.TLSVerifyCA, roots, false, "Access denied"},
		"any host, unsigned": {cert, svc.TLSVerifyCA, "", false, "certificate signed by unknown authority"},
		"unsigned":           {cert, svc.TLSRequire, "", false, "Access denied"},
		"no TLS":             {nil, svc.TLSRequire, "", true, "the server has no TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, _ := mysqlServer(t, c.cert, []step{{server: true, text: denied}})
			w := tunnelTo(t, svc.ForeignDatabase{ID: "a1", Scheme: "mysql", Address: address, TLS: c.mode, RootCert: c.root})
			if !c.early {
				if err := login(w, nil); err != nil {
					t.Fatal(err)
				}
			}
			got, err := w.hear()
			if err != nil || got == "" || got[0] != 0xff || !strings.Contains(got, c.want) || c.early == strings.HasPrefix(got[3:], "#") {
				t.Errorf("%q, %v; want an error with %q", got, err, c.want)
			}
			if rest, err := io.ReadAll(w); err != nil || len(bytes.TrimSpace(rest)) > 0 {
				t.Errorf("after the error there is %q, %v", rest, err)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		w := tunnelTo(t, svc.ForeignDatabase{ID: "a1", Scheme: "mysql", Address: "localhost:1", TLS: svc.TLSRequire})
		if got, err := w.hear(); err != nil || !strings.Contains(got, "connection refused") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// certificate is one for a host, and the file of its authority.
func certificate(t *testing.T, host string) (*tls.Certificate, string) {
	t.Helper()
	certFile, keyFile := svctest.NewAuthority(t).Write(t, t.TempDir(), host)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return &cert, certFile
}
