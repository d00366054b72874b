package agent

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/direct"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// session is one worker host, over all its lines to the daemon. Its methods are what the daemon
// asks: see control.Machine.
type session struct {
	*Agent

	id     string
	log    *slog.Logger
	outbox *outbox
	calls  *calls
	gate   *direct.Gate
	life   context.Context //nolint:containedctx // until end: a session outlives its lines
	cancel context.CancelFunc
	asked  atomic.Pointer[time.Time] // when the daemon last measured
	paused atomic.Bool               // no event of the version begins until the daemon says how the release ended
	sealed atomic.Bool               // nor does it accept writes
	tasks  sync.WaitGroup
	logs   sync.WaitGroup // what sends the log

	opening sync.Mutex // held by Open, Archive and Warm; guards over
	over    bool       // no worker host may be started any more

	mu   sync.Mutex // guards the fields below
	proc *process.Process
	ref  svc.Ref
	mark string // of the spec that is open; "" for none
	port int    // of the version, once it serves
}

var _ control.Machine = (*session)(nil)

func newSession(a *Agent) *session {
	id := strings.ToLower(rand.Text())
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // a session outlives its lines
	s := &session{Agent: a, id: id, log: a.cfg.Logger.With("session", id), outbox: newOutbox(), calls: newCalls(), gate: direct.NewGate(), life: ctx, cancel: cancel}
	a.front.add(s.gate)
	return s
}

func (s *session) hello() join.Hello {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := join.Hello{
		Secret: s.cfg.Token.Secret, Release: s.cfg.Release, Time: time.Now(), Machine: s.machine, Name: s.cfg.Name, Session: s.id, Mark: s.mark,
	}
	if s.front != nil {
		h.Direct, h.DirectPin = s.front.address, s.front.pin
	}
	if s.mark != "" {
		ref := s.ref
		h.Ref = &ref
	}
	return h
}

func (s *session) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark != ""
}

// process returns the worker host, or an error before it has started.
func (s *session) process() (*process.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return nil, svc.Errorf(svc.Conflict, svc.CodeRuntimeNotOpen, "this worker host has no version")
	}
	return s.proc, nil
}

// start starts the worker host, once. The caller holds s.opening.
func (s *session) start(ctx context.Context, from svc.Isolation) (*process.Process, error) {
	if p, err := s.process(); err == nil || s.over {
		return p, err
	}
	c, err := s.processFor(ctx, from)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(ctx, c, s.sub("logs", s.id))
	if err != nil {
		return nil, err
	}
	p.Hear(s.outbox.add)
	s.mu.Lock()
	s.proc = p
	s.mu.Unlock()
	s.tasks.Go(func() { s.watch(p) })
	return p, nil
}

// watch tells the daemon when the worker host has ended, after its last log entries.
func (s *session) watch(p *process.Process) {
	<-p.Exited()
	s.gate.Close()
	s.cancel()
	s.calls.close()
	s.logs.Wait()
	end := p.End()
	gone := &control.Gone{State: end.State}
	if end.Err != nil {
		gone.Err = svc.AsError(end.Err)
	}
	s.log.Info("the worker host has ended", "state", end.State)
	s.outbox.add(control.Notice{Gone: gone})
}

// end ends the worker host and waits for it.
func (s *session) end() {
	s.gate.Close()
	s.front.remove(s.gate)
	s.opening.Lock() // what runs ends soon: its line has ended
	s.over = true
	s.opening.Unlock()
	if p, err := s.process(); err == nil {
		p.Kill()
	}
	s.tasks.Wait()
	s.cancel()
	s.calls.close()
	s.outbox.close()
}
