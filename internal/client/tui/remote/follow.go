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

const (
	silence   = 40 * time.Second // after which a stream counts as dead: the server sends something every 15 s
	firstWait = 250 * time.Millisecond
	lastWait  = 3 * time.Second
)

var errSilent = errors.New("the server is silent")

// events follows the events of the server and reconnects.
func (r *Remote) events() {
	cursor, missed, wait := "", false, firstWait
	for r.ctx.Err() == nil {
		up, err := false, error(nil)
		ctx, stop := context.WithCancelCause(r.ctx)
		watch := time.AfterFunc(silence, func() { stop(errSilent) })
		for b, failed := range r.c.FollowEvents(ctx, client.EventQuery{Cursor: cursor}) {
			if err = failed; err != nil {
				break
			}
			watch.Reset(silence)
			if !up {
				r.send(ctx, state.Link{Up: true, Resync: missed, At: time.Now()})
				up, missed, wait = true, false, firstWait
			}
			if cursor = b.Cursor; b.Event != nil {
				r.send(ctx, state.Events{List: []api.Event{*b.Event}})
			}
		}
		watch.Stop()
		if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
			err = cause
		}
		stop(nil)
		if client.CodeOf(err) == svc.CodeCursorExpired {
			cursor, missed = "", true
			continue
		}
		if !r.send(r.ctx, state.Link{Err: err, At: time.Now()}) {
			return
		}
		select {
		case <-r.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, lastWait)
	}
}

// Follow begins to follow a log, from its last entries on.
func (r *Remote) Follow(n state.Need) {
	if r.follows[n] != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.follows[n] = cancel
	go r.log(ctx, n)
}

// Unfollow ends what Follow began.
func (r *Remote) Unfollow(n state.Need) {
	if cancel := r.follows[n]; cancel != nil {
		cancel()
		delete(r.follows, n)
	}
}

// log follows a log until ctx ends, and continues where it was interrupted.
func (r *Remote) log(ctx context.Context, n state.Need) {
	q := client.LogQuery{Tail: 500, Level: n.Arg}
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, lastWait) {
		var failed error
		for l, err := range r.c.FollowLogs(ctx, n.Project, n.Version, q) {
			if failed = err; err != nil {
				break
			}
			q.Cursor, wait = l.Cursor, firstWait
			if !r.send(ctx, state.Lines{Need: n, List: []api.LogLine{l}}) {
				return
			}
		}
		if failed != nil && !r.send(ctx, state.Loaded{Need: n, Err: failed, At: time.Now()}) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
