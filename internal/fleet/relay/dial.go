package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/lib/dial"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// Path is where the server listens for connections.
	Path = "/gateway/v1/relay"
	// Protocol is the name of the protocol in the preface.
	Protocol = "svc-relay"
	// KeyHeader carries the secret of the runtime's start in the preface.
	KeyHeader = "Svc-Relay-Key"
	// GenerationHeader carries the generation of the route table in an answer that refuses one.
	GenerationHeader = "Svc-Generation"
)

// Dialer connects to a Server.
type Dialer struct {
	// Connect opens a connection, encrypted if the server wants that.
	Connect func(ctx context.Context) (net.Conn, error)
	Host    string // of the server, for the preface
	Token   svc.Secret
}

// Destination is a runtime.
type Destination struct {
	Ref svc.Ref
	Key string // of the runtime's start
	// Address is host:port of the runtime's machine, where a Server listens; "" for that of the
	// daemon. Pin is join.Pin of the certificate at Address.
	Address, Pin string
}

// DialMachine connects to the runtime of d at its machine. Errors are those of Dialer.Dial.
func DialMachine(ctx context.Context, d Destination) (*Conn, error) {
	connect := func(ctx context.Context) (net.Conn, error) {
		nc, err := dial.TCP(ctx, d.Address, lostAfter)
		if err != nil {
			return nil, err
		}
		return encrypted(ctx, nc, &tls.Config{
			MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, //nolint:gosec // the pin takes the place of names and of known authorities
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) != 1 || join.Pin(s.PeerCertificates[0]) != d.Pin {
					return errPin
				}
				return nil
			},
		})
	}
	return (&Dialer{Connect: connect, Host: d.Address}).Dial(ctx, d.Ref, d.Key)
}

// dialRetry is the time between two tries to connect to a runtime whose accept queue is full.
const dialRetry = 2 * time.Millisecond

// DialSocket connects to a unix socket. The kernel reports a full accept queue of such a socket
// immediately, as EAGAIN: DialSocket tries again until ctx ends.
func DialSocket(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	for {
		nc, err := d.DialContext(ctx, "unix", socket)
		if err == nil || !errors.Is(err, syscall.EAGAIN) {
			return nc, err
		}
		select {
		case <-time.After(dialRetry):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// errPin is a machine that has not the key of its certificate.
var errPin = errors.New("the machine does not have the certificate that the server knows")

// Dial connects to the runtime of a version whose start has this key. Errors: *MovedError if
// the version has no such runtime, else ErrNotAdmitted.
func (d *Dialer) Dial(ctx context.Context, ref svc.Ref, key string) (*Conn, error) {
	nc, err := d.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: connect to the relay: %w", ErrNotAdmitted, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	c, err := d.greet(ctx, nc, ref, key)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = nc.Close()
		if !errors.Is(err, ErrNotAdmitted) {
			err = fmt.Errorf("%w: preface of the relay: %w", ErrNotAdmitted, err)
		}
		return nil, err
	}
	return c, nil
}

// greet sends the preface and reads its answer.
func (d *Dialer) greet(ctx context.Context, nc net.Conn, ref svc.Ref, key string) (*Conn, error) {
	q := url.Values{"project": {ref.Project}, "version": {ref.Version}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.Host+Path+"?"+q.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{KeyHeader: {key}, "Connection": {"Upgrade"}, "Upgrade": {Protocol}}
	if d.Token != "" {
		r.Header.Set("Authorization", "Bearer "+d.Token.Reveal())
	}
	if err := r.Write(nc); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(nc, readBuffer)
	answer, err := http.ReadResponse(in, r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusSwitchingProtocols:
		return NewConn(nc, in), nil
	case http.StatusMisdirectedRequest:
		generation, err := strconv.ParseUint(answer.Header.Get(GenerationHeader), 10, 64)
		if err != nil {
			return nil, err
		}
		return nil, &MovedError{Generation: generation}
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	return nil, fmt.Errorf("%s: %s", answer.Status, text)
}
