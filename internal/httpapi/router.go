package httpapi

import (
	"net/http"
	"path"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// router registers the generated operations, each behind what its rule asks
// for. It implements oas.ServeMux.
type router struct{ s *Server }

// rule is what a request must have before its handler sees it.
type rule struct {
	role role
	body func([]byte) error // nil when the operation takes no JSON body
	// bodyOptional lets a request come without one.
	bodyOptional bool
	limit        int // the most of a page; 0 for that of lists
}

// HandleFunc registers next under "METHOD /path".
func (rt router) HandleFunc(pattern string, next func(http.ResponseWriter, *http.Request)) {
	s, rule := rt.s, ruleOf(pattern)
	route := pattern[strings.Index(pattern, "/"):]
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		exchangeOf(r.Context()).route = route
		if err := s.auth.allow(r, rule.role); err != nil {
			s.fail(w, r, err)
			return
		}
		if err := checkQuery(r, rule.limit); err != nil {
			s.fail(w, r, err)
			return
		}
		if err := rule.readBody(w, r); err != nil {
			s.fail(w, r, err)
			return
		}
		next(w, r)
	})
}

// ServeHTTP implements oas.ServeMux.
func (rt router) ServeHTTP(w http.ResponseWriter, r *http.Request) { rt.s.mux.ServeHTTP(w, r) }

// dispatch finds the operation. ServeMux answers its own 404 and 405 in plain
// text and redirects odd paths; here they are problems [D10].
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.EscapedPath(); path.Clean(p) != p { // a key may have any path in it
		s.fail(w, r, errNoPath())
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	verdict := headerOnly{http.Header{}}
	h.ServeHTTP(verdict, r)
	allow := verdict.Header().Get("Allow")
	if allow == "" {
		s.fail(w, r, errNoPath())
		return
	}
	w.Header().Set("Allow", allow)
	s.fail(w, r, methodNotAllowed{method: r.Method, allow: allow})
}

// errNoPath answers every path that is not of the API.
func errNoPath() error {
	return svc.Errorf(svc.NotFound, "path_not_found", "there is nothing at this path").
		WithHint("GET /v1/openapi.json lists what there is")
}

// headerOnly takes the header of an answer and throws the rest away.
type headerOnly struct{ header http.Header }

func (h headerOnly) Header() http.Header       { return h.header }
func (headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (headerOnly) WriteHeader(int)             {}
