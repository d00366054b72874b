package dev

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// ServeHTTP passes a request on to a worker by its host: guestbook.localhost and
// s2.guestbook.localhost are those of guestbook, all other names the first one's.
func (s *Session) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.byHost(r.Host).front.ServeHTTP(rw, r)
}

func (s *Session) byHost(host string) *worker {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	name, local := strings.CutSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), ".localhost")
	if local {
		name = name[strings.LastIndexByte(name, '.')+1:]
		for _, w := range s.workers {
			if w.project == name {
				return w
			}
		}
	}
	return s.workers[0]
}

// url is the stable address of the worker.
func (w *worker) url() string {
	if w == w.workers[0] {
		return w.address.url()
	}
	return fmt.Sprintf("http://%s.localhost:%d", w.project, w.address.port)
}
