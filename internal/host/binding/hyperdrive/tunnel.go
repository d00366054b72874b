package hyperdrive

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// dialLimit limits a connection to the database and its handshake.
const dialLimit = 15 * time.Second

// refuseLimit is how long a driver may take to close a refused connection.
const refuseLimit = 10 * time.Second

// sslRequest asks a PostgreSQL server for TLS, which answers with the byte S or N.
var sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47} //nolint:gochecknoglobals // a constant

// tunnel is a socket for workerd whose connections lead to a PostgreSQL server by TLS. Drivers
// in workers speak without TLS to it.
type tunnel struct {
	db       svc.ForeignDatabase
	config   *tls.Config
	listener net.Listener
	ctx      context.Context //nolint:containedctx // of Close
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// openTunnel listens at path. Close ends the connections.
func openTunnel(ctx context.Context, db svc.ForeignDatabase, path string) (*tunnel, error) {
	config, err := tlsConfig(db)
	if err != nil {
		return nil, fmt.Errorf("hyperdrive %s: %w", db.ID, err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("hyperdrive %s: %w", db.ID, err)
	}
	t := &tunnel{db: db, config: config, listener: l}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.running.Go(t.accept)
	return t, nil
}

// tlsConfig verifies the server unless the database is used with TLSRequire.
func tlsConfig(db svc.ForeignDatabase) (*tls.Config, error) {
	host, _, _ := net.SplitHostPort(db.Address) // the setting was read
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	c.InsecureSkipVerify = db.TLS == svc.TLSRequire // as libpq: for servers with certificates of their own
	if db.RootCert == "" {
		return c, nil
	}
	text, err := os.ReadFile(db.RootCert)
	if err != nil {
		return nil, err
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", db.RootCert)
	}
	return c, nil
}

// ServeHTTP serves nothing: workerd connects to the socket.
func (t *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// Close ends all connections.
func (t *tunnel) Close() error {
	t.cancel()
	err := t.listener.Close()
	t.running.Wait()
	return err
}

func (t *tunnel) accept() {
	for {
		conn, err := t.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			t.running.Go(func() { t.serve(conn) })
		}
	}
}

// serve joins a connection of a worker with one to the database. A driver learns why there is
// none from an error in the database's own form.
func (t *tunnel) serve(worker net.Conn) {
	defer worker.Close()
	database, err := t.dial()
	if err != nil {
		t.refuse(worker, failure("08001", "the database cannot be reached by TLS: "+err.Error()))
		return
	}
	defer database.Close()
	defer context.AfterFunc(t.ctx, func() { _ = worker.Close(); _ = database.Close() })()
	t.running.Go(func() {
		_, _ = io.Copy(database, worker)
		_ = database.CloseWrite()
	})
	_, _ = io.Copy(worker, database)
}

// refuse sends a message and reads what the driver has sent: a connection that is closed with
// bytes to read loses the message.
func (t *tunnel) refuse(worker net.Conn, message []byte) {
	defer context.AfterFunc(t.ctx, func() { _ = worker.Close() })()
	_ = worker.SetDeadline(time.Now().Add(refuseLimit))
	_, _ = worker.Write(message)
	if half, ok := worker.(*net.UnixConn); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.Copy(io.Discard, worker)
}

func (t *tunnel) dial() (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, dialLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.db.Address)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, t.config)
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // stops what waits for the server
	if err = upgrade(conn); err == nil {
		err = secure.HandshakeContext(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// upgrade asks for TLS.
func upgrade(conn net.Conn) error {
	if _, err := conn.Write(sslRequest); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if answer[0] != 'S' {
		return errors.New("the server has no TLS")
	}
	return nil
}

// failure is the message ErrorResponse of PostgreSQL.
func failure(code, text string) []byte {
	fields := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + text + "\x00\x00"
	return append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4)), fields...) //nolint:gosec // a short text
}
