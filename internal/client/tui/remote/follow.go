package remote

import (
	"context"
	"errors"
	"iter"
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
	logTail   = 500 // entries that a log begins with
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

// log follows a log until ctx ends, and continues where it was interrupted. The entries
// that there are come together.
func (r *Remote) log(ctx context.Context, n state.Need) {
	q := client.LogQuery{Tail: logTail, Level: n.Arg}
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, lastWait) {
		before := q.Cursor
		if err := r.follow(ctx, n, &q); err != nil && !r.send(ctx, state.Loaded{Need: n, Err: err, At: time.Now()}) {
			return
		}
		if q.Cursor != before {
			wait = firstWait
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// follow reads the log once, and follows it to the end of the response. It moves the cursor.
func (r *Remote) follow(ctx context.Context, n state.Need, q *client.LogQuery) error {
	if q.Cursor == "" {
		page, err := r.lines(ctx, n, *q)
		if err != nil {
			return err
		}
		if !r.send(ctx, state.Lines{Need: n, List: page.Items}) {
			return nil
		}
		q.Cursor = page.NextCursor
	}
	for l, err := range r.entries(ctx, n, *q) {
		if err != nil {
			return err
		}
		q.Cursor = l.Cursor
		if !r.send(ctx, state.Lines{Need: n, List: []api.LogLine{l}}) {
			return nil
		}
	}
	return nil
}

// lines reads a part of the log of a version, of a production, or of the server.
func (r *Remote) lines(ctx context.Context, n state.Need, q client.LogQuery) (api.LogLines, error) {
	if n.Project == "" {
		return r.c.ReadServerLog(ctx, q)
	}
	return r.c.ReadLogs(ctx, n.Project, n.Version, q)
}

// entries follows what lines reads.
func (r *Remote) entries(ctx context.Context, n state.Need, q client.LogQuery) iter.Seq2[api.LogLine, error] {
	if n.Project == "" {
		return r.c.FollowServerLog(ctx, q)
	}
	return r.c.FollowLogs(ctx, n.Project, n.Version, q)
}
