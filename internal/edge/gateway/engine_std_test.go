package gateway

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// EngineStd is net/http. Only the tests of this package have it: they compare the
// engines of the program with it.
const EngineStd Engine = "std"

func init() { //nolint:gochecknoinits // the tests add an engine
	engines[EngineStd] = func(s *conn.Server) engine { return newStdEngine(s) }
}

// stdEngine serves clients with net/http, and reads responses of runtimes with it.
// It is slower than GoEngine and less strict: TestDifferences lists the differences.
//
// It writes to the spare connections of the upstream itself, not through an
// http.Transport, which repeats requests, and so that all engines send the same heads.
type stdEngine struct {
	*conn.Server

	readers sync.Pool // *bufio.Reader
	buffers sync.Pool // *[]byte of BufferSize

	mu    sync.Mutex // guards conns
	conns map[*stdConn]struct{}
}

func newStdEngine(s *conn.Server) *stdEngine {
	e := &stdEngine{Server: s, conns: map[*stdConn]struct{}{}}
	s.MakeRoom = e.Evict
	e.readers.New = func() any { return bufio.NewReaderSize(nil, conn.BufferSize) }
	e.buffers.New = func() any { b := make([]byte, conn.BufferSize); return &b }
	return e
}

// bufioSlop is the number of bytes that a net/http server reads beyond
// MaxHeaderBytes.
const bufioSlop = 4096

func (e *stdEngine) Serve(ctx context.Context, ln net.Listener) error {
	s := http.Server{
		Handler: e, DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: e.Config.HeaderTimeout, IdleTimeout: e.Config.IdleTimeout, MaxHeaderBytes: max(e.Config.MaxHeader-bufioSlop, 1),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: withStdConn, ConnState: e.track,
		ErrorLog: slog.NewLogLogger(e.Config.Logger.Handler(), slog.LevelWarn),
	}
	err := s.Serve(stdListener{ln, e, ctx})
	s.SetKeepAlivesEnabled(!e.IsClosing()) // else each response is the last one of its connection
	return err
}

// track registers a connection until it is closed. The connection of a websocket
// stays registered until serveTunnel returns.
func (e *stdEngine) track(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*stdConn)
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch state {
	case http.StateNew:
		e.conns[c] = struct{}{}
		e.Connected()
		c.idle, c.fresh, c.idleSince = true, true, time.Now()
		e.Running.Add(1)
	case http.StateActive:
		c.idle, c.fresh = false, false
	case http.StateIdle:
		c.idle, c.idleSince = true, time.Now()
		c.serving.Store(false)
	case http.StateClosed:
		e.forget(c)
	case http.StateHijacked:
	}
}

// forget unregisters a connection. stdEngine.mu must be held.
func (e *stdEngine) forget(c *stdConn) {
	c.cancel()
	delete(e.conns, c)
	e.Leave(&c.peer)
	e.Running.Done()
}

// Sweep applies Config.ClientTimeout; net/http applies the other limits.
func (e *stdEngine) Sweep(now time.Time) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		if c.Enforce(now) {
			c.cancel()
		}
	}
	return len(e.conns)
}

func (e *stdEngine) Evict() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range conn.Sample(e.conns, conn.EvictSample) {
		if (c.idle || c.lingers.Load()) && time.Since(c.idleSince) > conn.EvictAge {
			c.idle = false
			_ = c.Conn.Close()
			return true
		}
	}
	return false
}

func (e *stdEngine) CloseIdle() { e.closeWhere(func(c *stdConn) bool { return c.idle && !c.fresh }) }

func (e *stdEngine) CloseFresh() {
	e.closeWhere(func(c *stdConn) bool { return c.idle || c.lingers.Load() })
}

func (e *stdEngine) closeWhere(matches func(*stdConn) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		if matches(c) {
			_ = c.Conn.Close()
		}
	}
}

func (e *stdEngine) Prune(*route.Upstream) {} // upstream has the spare connections

func (e *stdEngine) Abort() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		c.cancel()
		_ = c.Conn.Close()
	}
}

// stdListener wraps the connections that net/http serves in a stdConn.
type stdListener struct {
	net.Listener
	e   *stdEngine
	ctx context.Context // of serve; Accept has none
}

func (l stdListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if p := l.e.PeerOf(nc.RemoteAddr()); l.e.Admit(l.ctx, nc, &p) {
			return &stdConn{Client: conn.Client{Conn: nc, Config: &l.e.Config}, e: l.e, peer: p}, nil
		}
	}
}
