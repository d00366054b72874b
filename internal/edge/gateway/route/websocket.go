package route

import "github.com/svcctl/svcctl/internal/svc"

// Ender ends an open websocket.
type Ender interface {
	// End makes the websocket end with 1012. It does not wait, and may be called from any
	// goroutine, and again.
	End()
}

// Websocket is what the router knows of an open websocket. Its claim has ended: it is not a
// request in flight, and a drain does not wait for it [D20].
type Websocket struct {
	Upstream *Upstream
	version  *Version
	Role     svc.Role
	ender    Ender
}

// Open registers w, so that CloseWebsockets and retire find it.
func (w *Websocket) Open(cl *Claim, e Ender) {
	w.Upstream, w.version, w.Role, w.ender = cl.Upstream, cl.Version, cl.Role, e
	w.Upstream.tunnels.Add(1)
	w.version.stats.addWebsocket(w)
}

// Close ends what open began.
func (w *Websocket) Close() {
	w.Upstream.tunnels.Add(-1)
	w.version.stats.removeWebsocket(w)
}

// Ref names the version of the websocket.
func (w *Websocket) Ref() svc.Ref { return w.version.Ref }

func closeAll(list []*Websocket) {
	for _, w := range list {
		w.ender.End()
	}
}

func (s *stats) addWebsocket(w *Websocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.websockets[w] = struct{}{}
}

func (s *stats) removeWebsocket(w *Websocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.websockets, w)
}

// listWebsockets returns the open websockets of a role; "" for all.
func (s *stats) listWebsockets(role svc.Role) []*Websocket {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Websocket
	for w := range s.websockets {
		if role == "" || w.Role == role {
			list = append(list, w)
		}
	}
	return list
}

func (s *stats) closeWebsockets(which func(*Websocket) bool) {
	for _, w := range s.listWebsockets("") {
		if which(w) {
			w.ender.End()
		}
	}
}
