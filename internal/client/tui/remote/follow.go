package remote

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	// firstAnswer is how long the server may take to begin the stream of events.
	firstAnswer = 15 * time.Second
	// silence is after how long the stream of a server counts as dead that does not say how often it
	// sends: such a server sends something every 15 s.
	silence   = 40 * time.Second
	firstWait = 250 * time.Millisecond
	lastWait  = 3 * time.Second
	logTail   = 500 // entries that a log begins with
)

var errSilent = errors.New("the server is silent")

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
	for retry := (backoff.Backoff{First: firstWait, Max: lastWait}); ctx.Err() == nil; {
		before := q.Cursor
		if err := r.follow(ctx, n, &q); err != nil && !r.send(ctx, state.Loaded{Need: n, Err: err, At: time.Now()}) {
			return
		}
		if q.Cursor != before {
			retry.Reset()
		}
		_ = retry.Sleep(ctx) // the loop sees its error
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
