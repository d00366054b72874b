package httpapi

import (
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
)

// settled has the answer of a change wait until the change survives the loss of this machine, if
// Deps.Settle is set.
func (s *Server) settled(method string, next http.HandlerFunc) http.HandlerFunc {
	if s.Settle == nil || method == http.MethodGet || method == http.MethodHead {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		next(&settling{ResponseWriter: w, server: s, request: r}, r)
	}
}

// settling is a response that begins after the change was settled.
type settling struct {
	http.ResponseWriter

	server  *Server
	request *http.Request
	begun   bool
	failed  bool // the answer was replaced
}

// Unwrap is for http.ResponseController.
func (w *settling) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader waits before the header of a success.
func (w *settling) WriteHeader(code int) {
	if w.begun {
		return
	}
	w.begun = true
	if code < http.StatusBadRequest {
		if err := w.server.Settle(w.request.Context()); err != nil {
			w.failed = true
			for _, name := range []string{"Content-Type", "Content-Length", "Location", "Etag"} { // of the answer that is replaced
				w.Header().Del(name)
			}
			w.server.fail(w.ResponseWriter, w.request, unsettled(err))
			return
		}
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write drops the body of an answer that was replaced.
func (w *settling) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.failed {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

func unsettled(cause error) error {
	return svc.Errorf(svc.Unavailable, svc.CodeRegistryCopyLate, "the change was made, but its copy is not in the object store yet: a loss of this machine now would undo it").
		WithHint("repeat the request, with the same Idempotency-Key if it creates something").Because(cause)
}
