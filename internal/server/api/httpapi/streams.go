package httpapi

import (
	"net/http"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// maxStreams is the number of requests that last, of all clients with one token of the role read:
// each has a connection of the API's (SVC_API_MAX_CONNECTIONS).
const maxStreams = 64

// restTime is the time in which the rest of a body must arrive whose request was refused.
const restTime = 5 * time.Second

// streams counts the requests that last, by the name of their token. Safe for concurrent use.
type streams struct {
	mu    sync.Mutex
	count map[string]int
}

// lasts reports whether a request follows events or a log, or waits for them.
func lasts(r *http.Request, x *exchange) bool {
	q := r.URL.Query()
	return x.events || q.Get("follow") == "true" || q.Get("wait") != ""
}

// enter counts a request, until leave.
func (s *streams) enter(token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	if s.count[token] >= maxStreams {
		return svc.Errorf(svc.Unavailable, svc.CodeTooManyConnections, "the token %s follows %d streams already", token, maxStreams).
			WithHint("end one of them, or give each reader a token of its own")
	}
	s.count[token]++
	return nil
}

func (s *streams) leave(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[token]--; s.count[token] == 0 {
		delete(s.count, token)
	}
}

// limited lets a request of a token of the role read last if not too many do.
func (s *Server) limited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		if x.role == roleRead && lasts(r, x) {
			if err := s.streams.enter(x.actor.Token); err != nil {
				s.fail(w, r, err)
				return
			}
			defer s.streams.leave(x.actor.Token)
		}
		next(w, r)
	}
}
