package agent

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/direct"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// prefaceLimit is the time for a gateway's handshake and preface.
	prefaceLimit = 5 * time.Second
	// directDrain is the time for requests of gateways when the agent ends: their workers have ended.
	directDrain = time.Second
	// certificateLife is how long the certificate of an agent is valid: longer than one runs.
	certificateLife = 20 * 365 * 24 * time.Hour
)

// Keep-alive probes find out within about 11 seconds that the machine of a gateway is gone.
const gatewayIdle, gatewayProbe, gatewayProbes = 5 * time.Second, 2 * time.Second, 3

// front is the port where gateways reach the versions of this machine.
type front struct {
	gates   *direct.Gates
	address string // as gateways reach it, host:port; the host is "" if the daemon sees it
	pin     string // of the certificate
	server  *http.Server
	relay   *relay.Server
}

// listen opens the port of c.Listen; it returns nil without one. Only connections that know
// the key of a version's start get further than their preface.
func listen(ctx context.Context, c Config) (*front, error) {
	if c.Listen == "" {
		return nil, nil // this machine has no port
	}
	lc := net.ListenConfig{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: gatewayIdle, Interval: gatewayProbe, Count: gatewayProbes}}
	l, err := lc.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeAddressUnusable, "cannot listen at %s for gateways", c.Listen).
			WithHint("set --listen to a free port of this machine").Because(err)
	}
	f := &front{gates: direct.NewGates(), address: announced(l.Addr(), c.Address)}
	pair, err := certificate(time.Now())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	f.pin = join.Pin(pair.Leaf)
	f.relay = relay.NewServer(relay.Config{Admit: f.gates.Admit, Known: f.gates.Known, Logger: c.Logger})
	mux := http.NewServeMux()
	mux.Handle("GET "+relay.Path, f.relay)
	f.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: prefaceLimit, IdleTimeout: prefaceLimit, MaxHeaderBytes: maxPreface,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // a relay needs HTTP/1.1
		ErrorLog:     slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	c.Logger.InfoContext(ctx, "gateways reach the versions of this machine", "address", l.Addr().String(), "announced", f.address)
	secure := tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}})
	go func() {
		if err := f.server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			c.Logger.ErrorContext(ctx, "gateways reach the versions of this machine only through the server", "error", err)
		}
	}()
	return f, nil
}

// maxPreface is the maximum size of a gateway's preface in bytes.
const maxPreface = 8 << 10

// announced is the address that the daemon tells gateways: that of at, with the host and the port
// of address if these are set. The host is "" if it is known only to the daemon, which sees from where
// the machine dials.
func announced(at net.Addr, address string) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return "" // addresses of TCP have both
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = ""
	}
	if given, number, err := net.SplitHostPort(address); err == nil {
		host, port = given, number
	} else if address != "" {
		host = strings.Trim(address, "[]")
	}
	return net.JoinHostPort(host, port)
}

// certificate makes a certificate that gateways know by its pin: the daemon tells them.
func certificate(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the key for gateways: %w", err)
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "svcd host"}, NotBefore: now.Add(-certificateLife), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the certificate for gateways: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// stop ends the connections of gateways.
func (f *front) stop() {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), directDrain) //nolint:forbidigo // after the end of the agent's context
	defer cancel()
	_ = f.server.Close()
	_ = f.relay.Shutdown(ctx) // what is left ends with the process
}

// add makes a gate one of the port's.
func (f *front) add(g *direct.Gate) {
	if f != nil {
		f.gates.Add(g)
	}
}

func (f *front) remove(g *direct.Gate) {
	if f != nil {
		f.gates.Remove(g)
	}
}
