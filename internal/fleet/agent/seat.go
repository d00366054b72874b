package agent

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// The wait between two dials grows from one to the other: a daemon that starts again is back
// within a second, and versions are opened elsewhere after some.
const (
	leaveLimit  = 5 * time.Second
	resumeLimit = 5 * time.Second

	dialSoon = 100 * time.Millisecond
	dialLate = 500 * time.Millisecond
)

// The wait before a machine offers another worker host grows while those before were of no use: one
// whose start fails, or a daemon that is too busy to answer.
const (
	offerSoon = 100 * time.Millisecond
	offerLate = 5 * time.Second
)

// sit offers one worker host after another, until ctx ends or the daemon refuses this machine.
func (a *Agent) sit(ctx context.Context) error {
	for retry := (backoff.Backoff{First: offerSoon, Max: offerLate, Jitter: 0.5}); ctx.Err() == nil; {
		s, began := newSession(a), time.Now()
		err := s.run(ctx)
		used := s.isOpen()
		if used {
			s.leave(context.WithoutCancel(ctx))
		}
		s.end()
		switch {
		case err != nil:
			return err
		case used || time.Since(began) > offerLate:
			retry.Reset()
		default:
			_ = retry.Sleep(ctx) // the loop sees its error
		}
	}
	return nil
}

// run keeps a line to the daemon until the worker host has ended. Its error is a refusal.
func (s *session) run(ctx context.Context) error {
	for retry := (backoff.Backoff{First: dialSoon, Max: dialLate, Jitter: 0.5}); ctx.Err() == nil; {
		conn, w, err := s.dial(ctx)
		switch refused, is := errors.AsType[*svc.Error](err); {
		case is:
			return refused
		case err != nil:
			wait := retry.Next()
			s.log.InfoContext(ctx, "connection to the server failed; retrying", "error", err, "retry_in", wait)
			_ = backoff.Sleep(ctx, wait) // the loop sees its error
			continue
		case w.Unwanted:
			s.log.InfoContext(ctx, "the version runs elsewhere; ending its worker host here")
			_ = conn.Close() // the daemon closes it too
			s.leave(ctx)
			return nil
		}
		retry.Reset()
		s.log.InfoContext(ctx, "joined", "daemon", s.cfg.Daemon)
		if s.serve(ctx, conn, w.Silence) {
			return nil
		}
		s.log.WarnContext(ctx, "the line to the daemon ended")
		if s.sealed.Load() {
			s.log.WarnContext(ctx, "a release has sealed the data; ending the worker host")
			return nil
		}
		if !s.resume(ctx) {
			return nil
		}
		if !s.isOpen() {
			return nil // a spare is of no use to another daemon process
		}
	}
	return nil
}

func (s *session) dial(ctx context.Context) (net.Conn, join.Welcome, error) {
	h := s.hello()
	if s.cfg.Secret != nil {
		var err error
		if h.Secret, err = s.cfg.Secret(); err != nil {
			return nil, join.Welcome{}, err
		}
	}
	return join.Dial(ctx, s.cfg.Daemon, s.cfg.Token, h)
}

// leave ends a version that the daemon does not want here, with its last writes shipped if it
// still owns the data.
func (s *session) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	p, err := s.process()
	if err != nil {
		return
	}
	s.gate.Close()
	if s.isOpen() {
		_, _ = p.Client().Stop(ctx, 0) // else it is killed
	}
	p.Kill()
}

// serve answers the daemon until the line ends, and reports whether the worker host has ended,
// which the daemon knows then.
func (s *session) serve(ctx context.Context, conn net.Conn, silence time.Duration) (over bool) {
	server := control.NewServer(conn, s.log)
	s.gate.Line()
	s.outbox.to(server)
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(context.WithoutCancel(ctx), s); err != nil {
			s.log.WarnContext(ctx, "the line to the daemon failed", "error", err)
		}
	}()
	select {
	case <-served:
	case <-s.silent(served, silence):
		s.log.WarnContext(ctx, "no request from the server; reconnecting", "silence", silence)
	case <-s.outbox.done:
		over = true
	case <-ctx.Done():
		s.depart(served)
		s.leave(context.WithoutCancel(ctx)) // the daemon learns it while there is a line
		s.outbox.await(leaveLimit)
	}
	_ = server.Close()
	<-served
	s.outbox.to(nil)
	return over || s.outbox.isDone()
}

// depart gives the daemon time to move the version to another machine.
func (s *session) depart(served <-chan struct{}) {
	if !s.isOpen() || s.cfg.Drain <= 0 {
		return
	}
	s.log.Info("this machine stops; the daemon moves its version", "limit", s.cfg.Drain)
	s.outbox.add(control.Notice{Leaving: true})
	limit := time.NewTimer(s.cfg.Drain)
	defer limit.Stop()
	select {
	case <-s.outbox.done:
	case <-served:
	case <-limit.C:
		s.log.Warn("the daemon has not moved the version; stopping it")
	}
}

// silent is closed when the daemon has asked nothing for longer than limit. It ends with done.
func (s *session) silent(done <-chan struct{}, limit time.Duration) <-chan struct{} {
	silent := make(chan struct{})
	if limit <= 0 {
		return silent
	}
	now := time.Now()
	s.asked.Store(&now)
	go func() {
		tick := time.NewTicker(limit / 4)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if time.Since(*s.asked.Load()) > limit {
				close(silent)
				return
			}
		}
	}()
	return silent
}
