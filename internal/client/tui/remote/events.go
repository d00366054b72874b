package remote

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// position is where the stream of events continues.
type position struct {
	cursor string
	missed bool          // events are missing since the last answer
	heard  time.Time     // when the server last sent something; zero for never
	wait   time.Duration // before the next attempt
}

// events follows the events of the server and reconnects.
func (r *Remote) events() {
	p := position{wait: firstWait}
	for r.ctx.Err() == nil {
		err := r.stream(&p)
		if client.CodeOf(err) == svc.CodeCursorExpired {
			p.cursor, p.missed = "", true
			continue
		}
		at := p.heard
		if at.IsZero() {
			at = time.Now()
		}
		if !r.send(r.ctx, state.Link{Err: err, At: at}) {
			return
		}
		select {
		case <-r.ctx.Done():
		case <-time.After(p.wait):
		}
		p.wait = min(2*p.wait, lastWait)
	}
}

// stream reads events until the connection breaks or the server is silent for too long: a server
// that hangs keeps its connections open.
func (r *Remote) stream(p *position) error {
	ctx, stop := context.WithCancelCause(r.ctx)
	defer stop(nil)
	watch := time.AfterFunc(firstAnswer, func() { stop(errSilent) })
	defer watch.Stop()
	up, err := false, error(nil)
	for b, failed := range r.c.FollowEvents(ctx, client.EventQuery{Cursor: p.cursor}) {
		if err = failed; err != nil {
			break
		}
		watch.Reset(quiet(b.Every))
		p.heard = time.Now()
		if !up {
			r.send(ctx, state.Link{Up: true, Resync: p.missed, At: p.heard})
			up, p.missed, p.wait = true, false, firstWait
		}
		if p.cursor = b.Cursor; b.Event != nil {
			r.send(ctx, state.Events{List: []api.Event{*b.Event}})
		}
	}
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

// quiet is after how long without a sign of life a stream counts as dead.
func quiet(every time.Duration) time.Duration {
	if every <= 0 {
		return silence
	}
	return every * 5 / 2 // two that are missing, and half of one for a slow network
}
