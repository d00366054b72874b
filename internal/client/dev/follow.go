package dev

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// follower writes what the version that serves logs, live.
type follower struct {
	worker *worker
	cancel context.CancelFunc // nil before the first version
	done   sync.WaitGroup
}

// follow changes to the log of a version, from a time on.
func (f *follower) follow(ctx context.Context, version string, since time.Time) {
	f.stop()
	ctx, f.cancel = context.WithCancel(ctx)
	f.done.Go(func() {
		q := client.LogQuery{Since: since.UTC().Format(time.RFC3339Nano)}
		for line, err := range f.worker.server.Client.FollowLogs(ctx, f.worker.project, version, q) {
			if err != nil {
				return // the version is archived, or the session ends
			}
			f.worker.out.log(line)
		}
	})
}

func (f *follower) stop() {
	if f.cancel != nil {
		f.cancel()
		f.done.Wait()
	}
}

// log writes a line of the worker, or the end of an event. The front writes the requests.
func (p *printer) log(l api.LogLine) {
	bad := l.Level == "error" || l.Level == "warn"
	if l.Source == "request" || !p.writes(bad) {
		return
	}
	if i := l.Invocation; i != nil {
		p.line("%s %s %s", clean(strings.TrimSpace(i.Kind+" "+i.Detail)), i.Outcome, ms(time.Duration(i.DurationMs*float64(time.Millisecond))))
		return
	}
	color := gray
	switch l.Level {
	case "error":
		color = red
	case "warn":
		color = yellow
	}
	text := strings.Split(strings.TrimRight(l.Message, "\n"), "\n")
	for i := range text {
		text[i] = clean(text[i])
	}
	p.line("  %s %s", p.paint(color, l.Level), strings.Join(text, "\n              "))
}
