package daemon

import (
	"context"
	"sync"

	"github.com/svcctl/svcctl/internal/server/feed"
	"github.com/svcctl/svcctl/internal/svc"
)

// startFeed starts the events before the services that publish them.
func (d *Daemon) startFeed(ctx context.Context) error {
	d.feed = feed.New(d.registry, d.logger)
	d.states = &runtimeStates{feed: d.feed, last: map[svc.Ref]svc.Runtime{}}
	if err := d.feed.Start(ctx); err != nil {
		return err
	}
	d.stops.Push("events", d.feed.Stop)
	d.feed.Publish(svc.FeedEvent{Type: svc.FeedServerStarted})
	return nil
}

// runtimeStates publishes the changes of runtimes between serving and not serving.
type runtimeStates struct {
	feed *feed.Service

	mu   sync.Mutex
	last map[svc.Ref]svc.Runtime
}

// changed is supervisor.Config.OnChange.
func (s *runtimeStates) changed(r svc.Runtime) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.last[r.Ref]
	if s.last[r.Ref] = r; r.State == svc.RuntimeStopped || r.State == svc.RuntimeAsleep {
		delete(s.last, r.Ref)
	}
	kind := ""
	switch {
	case r.Restarts > was.Restarts:
		kind = svc.FeedRuntimeRestarted
	case r.State == svc.RuntimeAsleep:
		kind = svc.FeedRuntimeAsleep
	case r.State == svc.RuntimeServing && was.State != svc.RuntimeServing:
		kind = svc.FeedRuntimeUp
	case r.State != svc.RuntimeServing && was.State == svc.RuntimeServing:
		kind = svc.FeedRuntimeDown
	}
	if kind != "" {
		s.feed.Publish(svc.FeedEvent{Type: kind, Project: r.Ref.Project, Version: r.Ref.Version, Data: svc.FeedData{
			Status: string(r.State), Previous: string(was.State), Restarts: r.Restarts, Error: r.LastError,
		}})
	}
}
