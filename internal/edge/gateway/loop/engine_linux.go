package loop

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// Engine serves TCP connections with event loops, and what a loop does not do with
// the goroutines of GoEngine: requests that wait, uploads, static files, compressed
// responses, and other listeners than TCP.
type Engine struct {
	*conn.Engine

	starting sync.Mutex
	loops    atomic.Pointer[[]*loop] // nil before the first listener; changed under starting
}

// New returns an engine for the connections of s.
func New(s *conn.Server) *Engine {
	e := &Engine{Engine: conn.NewEngine(s)}
	s.MakeRoom = e.Evict
	return e
}

// loopCount is the number of loops: one for two processors, because a worker needs as
// much as its gateway. It lets the process run a goroutine more for each, because a busy
// loop keeps its processor while it waits; the kernel shares the real ones.
//
//nolint:gochecknoglobals // a setting of the process
var loopCount = sync.OnceValue(func() int {
	all := runtime.GOMAXPROCS(0)
	n := max(1, all/2)
	runtime.GOMAXPROCS(all + n)
	return n
})

// Serve accepts connections from ln until it is closed.
func (e *Engine) Serve(ctx context.Context, ln net.Listener) error {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return e.Engine.Serve(ctx, ln)
	}
	loops, err := e.start(ctx)
	defer e.stopLate(loops)
	var shared *sharedFD
	if err == nil {
		shared, err = share(tcp, len(loops))
	}
	if err != nil {
		e.Config.Logger.WarnContext(ctx, "event loops unavailable; serving with goroutines", "error", err)
		return e.Engine.Serve(ctx, ln)
	}
	for _, l := range loops {
		if !l.post(func() { l.listen(shared) }) {
			shared.release()
		}
	}
	<-e.Stopped()
	return nil
}

// stopLate stops loops that may have started after CloseIdle.
func (e *Engine) stopLate(loops []*loop) {
	if !e.IsClosing() {
		return
	}
	for _, l := range loops {
		l.post(l.stop)
	}
}

// start starts the loops, once.
func (e *Engine) start(ctx context.Context) ([]*loop, error) {
	e.starting.Lock()
	defer e.starting.Unlock()
	if loops := e.list(); loops != nil {
		return loops, nil
	}
	var loops []*loop
	for range loopCount() {
		l, err := newLoop(ctx, e)
		if err != nil {
			for _, l := range loops {
				l.close()
			}
			return nil, err
		}
		loops = append(loops, l)
	}
	e.loops.Store(&loops)
	for _, l := range loops {
		e.Running.Go(l.run)
	}
	return loops, nil
}

func (e *Engine) list() []*loop {
	if loops := e.loops.Load(); loops != nil {
		return *loops
	}
	return nil
}

// Sweep closes the connections that exceed a time limit, and returns how many there were.
func (e *Engine) Sweep(now time.Time) int {
	n := e.Engine.Sweep(now)
	for _, l := range e.list() {
		n += int(l.clients.Load())
		l.post(l.sweep)
	}
	return n
}

// each calls f on each loop and waits until all have.
func (e *Engine) each(f func(*loop)) {
	loops := e.list()
	done := make(chan struct{}, len(loops))
	for _, l := range loops {
		if !l.post(func() { defer func() { done <- struct{}{} }(); f(l) }) {
			done <- struct{}{}
		}
	}
	for range loops {
		<-done
	}
}

// The loops come first: a connection that is handed over meanwhile is one of GoEngine
// then, and GoEngine returns none while the gateway stops.

// CloseIdle closes the connections between two requests.
func (e *Engine) CloseIdle() {
	e.each((*loop).stop)
	e.Engine.CloseIdle()
}

// CloseFresh closes the connections whose first request has not arrived.
func (e *Engine) CloseFresh() {
	e.each((*loop).closeFresh)
	e.Engine.CloseFresh()
}

// Abort closes every connection.
func (e *Engine) Abort() {
	e.each((*loop).abort)
	e.Engine.Abort()
}

// Evict does not wait for the loops: what they close makes room for later connections.
func (e *Engine) Evict() bool {
	if e.Engine.Evict() {
		return true
	}
	for _, l := range e.list() {
		l.post(func() { l.evict() })
	}
	return false
}

// Prune makes each loop close its spare connections to a runtime. It does not wait.
func (e *Engine) Prune(u *route.Upstream) {
	for _, l := range e.list() {
		l.post(func() { l.prune(u, true) })
	}
}

// IsAvailable says whether this system has event loops.
const IsAvailable = true
