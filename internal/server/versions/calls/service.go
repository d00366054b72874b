package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/lib/peer"
	"github.com/svcctl/svcctl/internal/svc"
)

// headerTimeout is the time limit for the header of a question.
const headerTimeout = 10 * time.Second

// Connect connects with the runtime of a project's production ("") or of a version, as
// gateway.Gateway.Call does. Its errors are svc.Errors.
type Connect func(ctx context.Context, project, version string) (net.Conn, error)

// Config configures a Service.
type Config struct {
	Connect Connect
	Logger  *slog.Logger
	// Done is called for each call that ended, with the code of its error, "" for none. It
	// must not block.
	Done func(code string)
}

// Service joins calls.
type Service struct{ cfg Config }

// New returns a Service, which starts nothing.
func New(c Config) *Service { return &Service{cfg: c} }

// Listen listens in dir for the calls of caller, whose unpacked bundle is in bundleDir,
// until the listener is closed. They come from the worker host with the process id host, or by way
// of this process from another machine. It returns nil for a worker that calls no other. A bundle
// that cannot be read has no calls: the worker host reports it.
func (s *Service) Listen(ctx context.Context, caller svc.Ref, bundleDir, dir string, host int) (*Listener, error) {
	m, err := bundle.Load(bundleDir)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	targets := services.Distinct(services.Targets(&m, caller))
	if len(targets) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &Listener{
		host: host, cfg: s.cfg, log: s.cfg.Logger.With("project", caller.Project, "version", caller.Version),
		cancel: cancel, failed: map[string]*atomic.Pointer[svc.Error]{}, conns: map[net.Conn]struct{}{},
	}
	for _, t := range targets {
		if err = l.listen(ctx, dir, t); err != nil {
			break
		}
	}
	if err == nil {
		err = l.listenAsk(ctx, dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for calls of %s: %w", caller, err), l.Close())
	}
	return l, nil
}

// Listener takes the calls of one runtime.
type Listener struct {
	host   int // process of the worker host
	cfg    Config
	log    *slog.Logger
	cancel context.CancelFunc

	failed  map[string]*atomic.Pointer[svc.Error] // why the last call failed, by socket; nil if it did not
	closers []io.Closer
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	conns  map[net.Conn]struct{}
	closed bool
}

// Close ends all calls and waits for them. A nil Listener has none.
func (l *Listener) Close() error {
	if l == nil {
		return nil
	}
	l.cancel()
	l.mu.Lock()
	l.closed = true
	var errs []error
	for _, c := range l.closers {
		errs = append(errs, c.Close())
	}
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
	return errors.Join(errs...)
}

func (l *Listener) listen(ctx context.Context, dir string, t services.Target) error {
	ln, err := l.open(ctx, filepath.Join(dir, t.Socket()))
	if err != nil {
		return err
	}
	l.closers = append(l.closers, ln)
	failed := new(atomic.Pointer[svc.Error])
	l.failed["/"+t.Socket()] = failed
	l.running.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			l.running.Go(func() { l.join(ctx, conn, t, failed) })
		}
	})
	return nil
}

// open listens for the caller's workerd.
func (l *Listener) open(ctx context.Context, path string) (net.Listener, error) {
	ln, err := peer.Listen(ctx, path)
	if err != nil {
		return nil, err
	}
	return peer.Only(ln, l.host, func(pid int) {
		l.log.WarnContext(ctx, "refused a call: it is not from the version's workerd", "pid", pid)
	}), nil
}

// join connects a call with its target, and returns when the call has ended.
func (l *Listener) join(ctx context.Context, conn net.Conn, t services.Target, failed *atomic.Pointer[svc.Error]) {
	defer conn.Close()
	if !l.add(conn) {
		return
	}
	defer l.remove(conn)
	began := time.Now()
	target, err := l.cfg.Connect(ctx, t.Project, t.Version)
	if err != nil {
		e := svc.AsError(err)
		failed.Store(e) // before the relay sees that the connection has ended
		l.log.DebugContext(ctx, "call failed", "target", t.String(), "error", e)
		l.cfg.Done(e.Code)
		return
	}
	failed.Store(nil)
	pipe(conn, target)
	l.log.DebugContext(ctx, "call", "target", t.String(), "duration", time.Since(began))
	l.cfg.Done("")
}

func (l *Listener) add(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.conns[conn] = struct{}{}
	}
	return !l.closed
}

func (l *Listener) remove(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// listenAsk answers the questions of the relay after a call that was not connected.
func (l *Listener) listenAsk(ctx context.Context, dir string) error {
	ln, err := l.open(ctx, filepath.Join(dir, services.AskSocket))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(l.answer), ReadHeaderTimeout: headerTimeout, ErrorLog: slog.NewLogLogger(l.log.Handler(), slog.LevelDebug)}
	l.closers = append(l.closers, server)
	l.running.Go(func() { _ = server.Serve(ln) }) // until it is closed
	return nil
}

// answer tells why the last call to a target failed: 204 if it did not.
func (l *Listener) answer(w http.ResponseWriter, r *http.Request) {
	var e *svc.Error
	if failed := l.failed[r.URL.Path]; failed != nil {
		e = failed.Load()
	}
	if e == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"code": e.Code, "detail": e.Detail}) // a relay that is gone reads no answer
}
