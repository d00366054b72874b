package gateway

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// loopEngine serves TCP connections with event loops, and what a loop does not do with
// the goroutines of goEngine: requests that wait, uploads, static files, compressed
// responses, and other listeners than TCP.
type loopEngine struct {
	*goEngine

	starting sync.Mutex
	loops    atomic.Pointer[[]*loop] // nil before the first listener; changed under starting
}

func newLoopEngine(s *Server) *loopEngine {
	e := &loopEngine{goEngine: newGoEngine(s)}
	s.makeRoom = e.evict
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

func (e *loopEngine) serve(ctx context.Context, ln net.Listener) error {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return e.goEngine.serve(ctx, ln)
	}
	loops, err := e.start(ctx)
	var shared *sharedFD
	if err == nil {
		shared, err = share(tcp, len(loops))
	}
	if err != nil {
		e.cfg.Logger.WarnContext(ctx, "event loops unavailable; serving with goroutines", "error", err)
		return e.goEngine.serve(ctx, ln)
	}
	for _, l := range loops {
		if !l.post(func() { l.listen(shared) }) {
			shared.release()
		}
	}
	<-e.stopped()
	return nil
}

// start starts the loops, once.
func (e *loopEngine) start(ctx context.Context) ([]*loop, error) {
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
		e.running.Go(l.run)
	}
	return loops, nil
}

func (e *loopEngine) list() []*loop {
	if loops := e.loops.Load(); loops != nil {
		return *loops
	}
	return nil
}

func (e *loopEngine) sweep(now time.Time) int {
	n := e.goEngine.sweep(now)
	for _, l := range e.list() {
		n += int(l.clients.Load())
		l.post(l.sweep)
	}
	return n
}

// each calls f on each loop and waits until all have.
func (e *loopEngine) each(f func(*loop)) {
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

// The loops come first: a connection that is handed over meanwhile is one of goEngine
// then, and goEngine returns none while the gateway stops.

func (e *loopEngine) closeIdle() {
	e.each((*loop).stop)
	e.goEngine.closeIdle()
}

func (e *loopEngine) closeFresh() {
	e.each((*loop).closeFresh)
	e.goEngine.closeFresh()
}

func (e *loopEngine) abort() {
	e.each((*loop).abort)
	e.goEngine.abort()
}

// evict does not wait for the loops: what they close makes room for later connections.
func (e *loopEngine) evict() bool {
	if e.goEngine.evict() {
		return true
	}
	for _, l := range e.list() {
		l.post(func() { l.evict() })
	}
	return false
}

func (e *loopEngine) prune(u *upstream) {
	for _, l := range e.list() {
		l.post(func() { l.prune(u, true) })
	}
}

// hasLoops says whether this system has event loops.
const hasLoops = true
