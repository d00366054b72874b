package gateway

import "github.com/svcctl/svcctl/internal/svc"

// ender ends an open websocket.
type ender interface {
	// end makes the websocket end with 1012. It does not wait, and may be called from any
	// goroutine, and again.
	end()
}

// websocket is what the router knows of an open websocket. Its claim has ended: it is not a
// request in flight, and a drain does not wait for it [D20].
type websocket struct {
	upstream *upstream
	version  *version
	role     svc.Role
	ender    ender
}

// open registers w, so that CloseWebsockets and retire find it.
func (w *websocket) open(cl *claim, e ender) {
	w.upstream, w.version, w.role, w.ender = cl.upstream, cl.version, cl.role, e
	w.upstream.tunnels.Add(1)
	w.version.stats.addWebsocket(w)
}

// close ends what open began.
func (w *websocket) close() {
	w.upstream.tunnels.Add(-1)
	w.version.stats.removeWebsocket(w)
}

func (w *websocket) ref() svc.Ref { return w.version.ref }

func closeAll(list []*websocket) {
	for _, w := range list {
		w.ender.end()
	}
}

func (s *stats) addWebsocket(w *websocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.websockets[w] = struct{}{}
}

func (s *stats) removeWebsocket(w *websocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.websockets, w)
}

// listWebsockets returns the open websockets of a role; "" for all.
func (s *stats) listWebsockets(role svc.Role) []*websocket {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*websocket
	for w := range s.websockets {
		if role == "" || w.role == role {
			list = append(list, w)
		}
	}
	return list
}

func (s *stats) closeWebsockets(which func(*websocket) bool) {
	for _, w := range s.listWebsockets("") {
		if which(w) {
			w.ender.end()
		}
	}
}
