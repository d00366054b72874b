package feed

import "github.com/svcctl/svcctl/internal/svc"

// RuntimeChanged publishes the changes of a runtime between serving and not serving, and
// its restarts. The calls for one runtime are in the order of its changes.
func (s *Service) RuntimeChanged(r svc.Runtime) {
	s.changing.Lock()
	defer s.changing.Unlock()
	was := s.runtimes[r.Ref]
	if s.runtimes[r.Ref] = r; r.State == svc.RuntimeStopped || r.State == svc.RuntimeAsleep {
		delete(s.runtimes, r.Ref)
	}
	kind := changeOf(was, r)
	if kind == "" {
		return
	}
	s.Publish(svc.FeedEvent{Type: kind, Project: r.Ref.Project, Version: r.Ref.Version, Data: svc.FeedData{
		Status: string(r.State), Previous: string(was.State), Restarts: r.Restarts, Error: r.LastError,
	}})
}

// changeOf returns the type of the event of a change; "" for none.
func changeOf(was, now svc.Runtime) string {
	serves, served := now.State == svc.RuntimeServing, was.State == svc.RuntimeServing
	switch {
	case now.Restarts > was.Restarts:
		return svc.FeedRuntimeRestarted
	case now.State == svc.RuntimeAsleep:
		return svc.FeedRuntimeAsleep
	case serves && !served:
		return svc.FeedRuntimeUp
	case served && !serves:
		return svc.FeedRuntimeDown
	}
	return ""
}
