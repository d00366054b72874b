package hyperdrive

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/peer"
	"github.com/svcctl/svcctl/internal/svc"
)

// dialLimit limits a connection to the database and its handshake.
const dialLimit = 15 * time.Second

// refuseLimit is how long a driver may take to close a refused connection.
const refuseLimit = 10 * time.Second

// tunnel is a socket for workerd whose connections lead to a database server by TLS. Drivers
// in workers speak without TLS to it.
type tunnel struct {
	db       svc.ForeignDatabase
	config   *tls.Config
	listener net.Listener
	ctx      context.Context //nolint:containedctx // of Close
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// openTunnel listens at path, for the workerd that this host has started. Close ends the connections.
func openTunnel(ctx context.Context, db svc.ForeignDatabase, path string) (*tunnel, error) {
	config, err := tlsConfig(db)
	if err != nil {
		return nil, fmt.Errorf("hyperdrive %s: %w", db.ID, err)
	}
	l, err := peer.Listen(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("hyperdrive %s: %w", db.ID, err)
	}
	l = peer.Only(l, os.Getpid(), nil)
	t := &tunnel{db: db, config: config, listener: l}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.running.Go(t.accept)
	return t, nil
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

// session is the beginning of one connection of a worker.
type session interface {
	// open has a new connection to the database speak TLS, and leaves both where the driver and
	// the database may speak freely. The connections are the caller's.
	open(ctx context.Context, database net.Conn, config *tls.Config) (*tls.Conn, error)
	// failure is an error in the database's own form, for the driver.
	failure(text string) []byte
}

func (t *tunnel) session(worker net.Conn) session { //nolint:ireturn // one of two
	if t.db.Scheme == schemeMySQL {
		return &mysql{worker: packets{conn: worker}, password: t.db.Password}
	}
	return postgres{}
}

// serve joins a connection of a worker with one to the database. A driver learns why there is
// none from an error in the database's own form.
func (t *tunnel) serve(worker net.Conn) {
	defer worker.Close()
	s := t.session(worker)
	database, err := t.dial(worker, s)
	if err != nil {
		t.refuse(worker, s.failure("the database cannot be reached by TLS: "+err.Error()))
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

// dial gives a connection to the database on which s has begun.
func (t *tunnel) dial(worker net.Conn, s session) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, dialLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.db.Address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { // stops what waits for either
		_ = conn.SetDeadline(time.Unix(1, 0))
		_ = worker.SetDeadline(time.Unix(1, 0))
	})
	defer stop()
	secure, err := s.open(ctx, conn, t.config)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}
