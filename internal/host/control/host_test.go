package control_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// host records and answers.
type host struct {
	spec     chan svc.RuntimeSpec
	serving  chan struct{} // receives when Serve began
	canceled chan error
	armed    atomic.Bool
	files    atomic.Pointer[string]
	data     http.HandlerFunc
}

func newHost() *host {
	return &host{
		spec: make(chan svc.RuntimeSpec, 1), serving: make(chan struct{}, 1), canceled: make(chan error, 1),
		data: func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
	}
}

func (h *host) Warm(_ context.Context, s control.Spare) error {
	h.spec <- svc.RuntimeSpec{Local: svc.LocalSpec{Workerd: s.Workerd, RunDir: s.RunDir}, Host: svc.HostConfig{Confine: s.Confine}}
	return nil
}

func (h *host) Open(_ context.Context, s svc.RuntimeSpec) error {
	h.spec <- s
	return nil
}

func (*host) Prepare(context.Context) (svc.Prepared, error) {
	return svc.Prepared{Applied: []string{"DB/0001.sql"}}, nil
}

func (h *host) Serve(ctx context.Context) (svc.Endpoint, error) {
	h.serving <- struct{}{}
	<-ctx.Done()
	h.canceled <- ctx.Err()
	return svc.Endpoint{}, ctx.Err()
}

func (*host) Ping(context.Context) (control.Pong, error) {
	return control.Pong{Behind: time.Second, Error: "slow"}, nil
}

func (*host) Cut(context.Context) (branch.VersionCut, error) {
	return branch.VersionCut{Databases: map[string]branch.Cut{"sys": {TXID: 7, Files: []branch.File{{Prefix: "p/v/db/sys", Min: 1, Max: 7, Size: 9}}}}}, nil
}

func (h *host) Archive(_ context.Context, s svc.RuntimeSpec) error {
	h.spec <- s
	return nil
}

func (*host) Stop(context.Context, control.Stop) (svc.Wake, error) {
	return svc.Wake{}, svc.Errorf(svc.Unprocessable, "some_code", "it says %q", "no").WithHint("do that").Because(errors.New("the cause"))
}

func (*host) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	if e.Scheduled.Cron == "wait" {
		<-ctx.Done()
	}
	return svc.EventResult{Outcome: svc.OutcomeOK, Duration: e.Limit, Logs: []svc.LogLine{{Message: e.Scheduled.Cron, Time: e.Scheduled.Time}}}, ctx.Err()
}

func (h *host) Arm(_ context.Context, armed bool) error {
	h.armed.Store(armed)
	return nil
}

func (h *host) NextWake(context.Context) (svc.Wake, error) {
	return svc.Wake{At: time.Unix(1, 0).UTC(), Pending: 3}, nil
}

func (*host) Stage(context.Context, svc.RuntimeSpec) error { return nil }

func (*host) Seal(_ context.Context, s control.Seal) (control.Sealing, error) {
	return control.Sealing{Refused: 3, Running: []string{string(s.State)}}, nil
}

func (*host) Positions(context.Context) (control.Positions, error) {
	return control.Positions{"sys": 7}, nil
}

func (*host) Events(context.Context, bool) error { return nil }

func (*host) ReadOnly(context.Context, bool) error { return nil }

func (*host) PageOut(context.Context) (svc.PagedOut, error) {
	return svc.PagedOut{Way: svc.PageOutGroup, Bytes: 7}, nil
}

func (h *host) ShowFiles(_ context.Context, dir string) error {
	h.files.Store(&dir)
	return nil
}

func (h *host) Data(w http.ResponseWriter, r *http.Request) { h.data(w, r) }

// lines are the connections that a line may run over.
func lines() map[string]func(testing.TB) (daemon, host net.Conn) {
	return map[string]func(testing.TB) (net.Conn, net.Conn){"pair": pair, "tls": dialed}
}

// onEachLine runs test over each kind of connection.
func onEachLine(t *testing.T, test func(t *testing.T, daemon, host net.Conn)) {
	t.Helper()
	for name, connect := range lines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			daemon, host := connect(t)
			test(t, daemon, host)
		})
	}
}

func pair(t testing.TB) (daemon, host net.Conn) {
	t.Helper()
	here, there, err := control.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	conn, err := net.FileConn(there)
	if err != nil {
		t.Fatal(err)
	}
	return here, conn
}

// dialed is a TLS connection over loopback that the host dials.
func dialed(t testing.TB) (daemon, host net.Conn) {
	t.Helper()
	l, pool := listenTLS(t)
	accepted := make(chan net.Conn, 1)
	go func() {
		defer close(accepted)
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Read(nil) // the handshake
		accepted <- conn
	}()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: pool, ServerName: "control"}}
	host, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return <-accepted, host
}

func listenTLS(t testing.TB) (net.Listener, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"control"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, pool
}

// start serves h over a line. done receives what Serve returned.
func start(t testing.TB, daemon, there net.Conn, h *host, heard func(control.Notice)) (*control.Client, *control.Server, <-chan error) {
	t.Helper()
	server := control.NewServer(there, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- server.Serve(t.Context(), h) }()
	client, err := control.Connect(t.Context(), daemon, heard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server, done
}

func unheard(control.Notice) {}
