package relay

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Admission is the claim of a runtime for a request.
type Admission interface {
	// Dial connects to the runtime.
	Dial(ctx context.Context) (net.Conn, error)
	// Same reports whether other, of an earlier request, claims the same runtime.
	Same(other Admission) bool
	// Opened says that the request has become a websocket: nothing waits for it any more.
	Opened()
	// Release ends the claim.
	Release()
}

// Config configures a Server. Every field is required.
type Config struct {
	// Admit claims a runtime. Its errors are *MovedError and ErrFull. It compares the key in a
	// time that does not depend on it.
	Admit func(Ask) (Admission, error)
	// Known returns a *MovedError if the version has no runtime with the key of the ask.
	Known  func(Ask) error
	Logger *slog.Logger
}

// Server admits the requests of gateways and copies them to runtimes. It is an HTTP handler
// for Path, behind which the caller checks the gateway's token. It is safe for concurrent use.
type Server struct {
	cfg Config

	mu      sync.Mutex
	closing bool // no request is admitted
	conns   map[*session]struct{}
	running sync.WaitGroup
}

// NewServer returns a server.
func NewServer(cfg Config) *Server {
	return &Server{cfg: cfg, conns: map[*session]struct{}{}}
}

// ServeHTTP accepts a preface and serves its connection until that ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ask := Ask{Ref: svc.Ref{Project: q.Get("project"), Version: q.Get("version")}, Key: r.Header.Get(KeyHeader)}
	var moved *MovedError
	switch err := s.cfg.Known(ask); {
	case r.Header.Get("Upgrade") != Protocol:
		http.Error(w, "this path speaks "+Protocol, http.StatusUpgradeRequired)
		return
	case errors.As(err, &moved):
		w.Header().Set(GenerationHeader, strconv.FormatUint(moved.Generation, 10))
		http.Error(w, "the version has no runtime with this key", http.StatusMisdirectedRequest)
		return
	}
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.cfg.Logger.WarnContext(r.Context(), "accepting a connection of a gateway failed", "error", err)
		return
	}
	defer nc.Close()
	x := &session{s: s, nc: nc, in: rw.Reader, ask: ask}
	if rw.Reader.Buffered() == 0 {
		x.in = bufio.NewReaderSize(nc, serverBuffer)
	}
	if !s.add(x) {
		return
	}
	defer s.remove(x)
	_ = nc.SetDeadline(time.Time{})
	if _, err := io.WriteString(nc, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+Protocol+"\r\n\r\n"); err != nil {
		return
	}
	x.run(context.WithoutCancel(r.Context()))
}

func (s *Server) add(x *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.conns[x] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) remove(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, x)
	s.running.Done()
}

// Shutdown admits no more requests and waits for those in progress. When ctx ends, it closes
// their connections. It may be called again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closeWhere((*session).retire)
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.closeWhere(func(*session) bool { return true })
		<-done
		return context.Cause(ctx)
	}
}

// closeWhere closes the connections that match; no other one is accepted from then on.
func (s *Server) closeWhere(matches func(*session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for x := range s.conns {
		if matches(x) {
			_ = x.nc.Close()
		}
	}
}

const (
	// dialLimit bounds the connection to a runtime.
	dialLimit = 3 * time.Second
	// idleLimit is how long a connection to a runtime is used again: workerd closes one after
	// 15 s without a request.
	idleLimit = 5 * time.Second
	// serverBuffer is the size of the buffer for what a gateway sends.
	serverBuffer = 16 << 10
)

// session is one connection of a gateway. Its goroutine reads the gateway's frames; another
// one per connection to a runtime copies the other way.
type session struct {
	s   *Server
	nc  net.Conn
	in  *bufio.Reader
	ask Ask

	worker *worker   // nil before the first request
	last   Admission // of the request before: of worker
	idle   time.Time // when that ended

	mu      sync.Mutex // guards the fields below, writes to nc, and those of worker
	adm     Admission  // of the request in progress, nil between two
	retired bool       // it ends after the request in progress
	opened  bool       // the request in progress has become a websocket
	frame   []byte
}

func (x *session) run(ctx context.Context) {
	defer x.end()
	for {
		kind, n, err := readHead(x.in)
		if err != nil {
			return
		}
		switch {
		case kind == kindBegin && !x.busy():
			err = x.begin(ctx, n)
		case kind == kindData && x.busy():
			err = x.data(n)
		case kind == kindData: // of a request that was not admitted
			_, err = x.in.Discard(n)
		case kind == kindEnd && n == 0 && x.busy():
			x.release()
		case kind == kindSocket && n == 0 && x.busy():
			x.open()
		default:
			err = errProtocol
		}
		if err != nil {
			return
		}
	}
}

// retire lets the session end after its request. It reports whether a shutdown need not
// wait for it.
func (x *session) retire() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.retired = true
	return x.adm == nil || x.opened
}

// open ends what waits for the request in progress, which has become a websocket.
func (x *session) open() {
	x.mu.Lock()
	x.opened = true
	retired := x.retired
	x.mu.Unlock()
	if x.adm.Opened(); retired {
		_ = x.nc.Close()
	}
}

func (x *session) busy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.adm != nil
}

// begin admits a request, or says why not.
func (x *session) begin(ctx context.Context, n int) error {
	content := make([]byte, n)
	if _, err := io.ReadFull(x.in, content); err != nil {
		return err
	}
	if err := x.ask.begin(content); err != nil {
		return err
	}
	adm, err := x.s.cfg.Admit(x.ask)
	if err != nil {
		return x.refuse(err)
	}
	if err := x.attach(ctx, adm); err != nil {
		adm.Release()
		return err // without an answer: the request was not admitted
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.retired {
		adm.Release()
		return net.ErrClosed
	}
	x.adm = adm
	return x.write(kindAdmitted, nil)
}

func (x *session) refuse(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if moved, ok := errors.AsType[*MovedError](err); ok {
		return x.write(kindMoved, binary.BigEndian.AppendUint64(nil, moved.Generation))
	}
	return x.write(kindFull, nil)
}

// write sends a frame. x.mu must be held.
func (x *session) write(kind byte, content []byte) error {
	x.frame = appendFrame(x.frame[:0], kind, content)
	_, err := x.nc.Write(x.frame)
	return err
}

// attach connects to the runtime of adm, unless there is a connection that can be used.
func (x *session) attach(ctx context.Context, adm Admission) error {
	if w := x.worker; w != nil {
		if x.last.Same(adm) && time.Since(x.idle) < idleLimit && w.again() {
			return nil
		}
		x.worker = nil
		w.close()
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	nc, err := adm.Dial(ctx)
	if err != nil {
		return err
	}
	x.worker, x.last = newWorker(x, nc), adm
	return nil
}

// data copies a data frame to the runtime. If the runtime does not take it, its own goroutine
// says so to the gateway.
func (x *session) data(n int) error {
	for n > 0 {
		b, err := x.in.Peek(min(n, max(1, x.in.Buffered())))
		if err != nil {
			return err
		}
		if _, err := x.worker.nc.Write(b); err != nil {
			x.worker.fail(err)
		}
		_, _ = x.in.Discard(len(b)) // it was peeked at
		n -= len(b)
	}
	return nil
}

// release ends the claim of the request in progress.
func (x *session) release() {
	x.mu.Lock()
	adm, retired := x.adm, x.retired
	x.adm, x.opened = nil, false
	x.mu.Unlock()
	x.idle = time.Now()
	if adm != nil {
		adm.Release()
	}
	if retired {
		_ = x.nc.Close()
	}
}

// end closes both connections.
func (x *session) end() {
	_ = x.nc.Close()
	if x.worker != nil {
		x.worker.close()
	}
	x.release()
}
