package httpapi

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// router registers the generated operations, each behind the checks of its rule. It
// implements oas.ServeMux.
type router struct{ s *Server }

// rule says what is checked before the handler of an operation runs.
type rule struct {
	role role
	// ticket allows a poll ticket of the version in the path as well, without the parameters of query:
	// they select more.
	ticket bool
	// reads allows the role read as well: the operation only reads, and no data.
	reads bool
	// private forbids the role read, also for an operation that reads no data.
	private bool
	body    func([]byte) error // nil if the operation has no JSON body
	// bodyOptional allows a request without a body.
	bodyOptional bool
	scale        int      // the body may have as many times maxBody; 0 for one
	limit        int      // maximum size of a page; 0 for that of lists
	query        []string // the known parameters; nil allows any
}

// HandleFunc registers next under "METHOD /path".
func (rt router) HandleFunc(pattern string, next func(http.ResponseWriter, *http.Request)) {
	s, rule := rt.s, ruleOf(pattern)
	rule.reads = rule.reads || strings.HasPrefix(pattern, "GET ") && !s.isData(pattern) && !rule.private
	route := pattern[strings.Index(pattern, "/"):]
	method, _, _ := strings.Cut(pattern, " ")
	next = s.limited(s.settled(method, s.audited(pattern, s.writable(pattern, next))))
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		x.route = route
		if err := s.auth.allow(r, rule); err != nil {
			s.fail(w, r, err)
			return
		}
		x.token, _ = bearer(r)
		if err := checkQuery(r, rule); err != nil {
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

// isData reports whether an operation reads what the bindings of a version hold.
func (s *Server) isData(pattern string) bool {
	method, below, _ := strings.Cut(pattern, " "+versionRoute)
	return below != "/bindings" && slices.Contains(s.DataPatterns, method+" "+below)
}

// ServeHTTP implements oas.ServeMux.
func (rt router) ServeHTTP(w http.ResponseWriter, r *http.Request) { rt.s.mux.ServeHTTP(w, r) }

// dispatch calls the handler of the operation. It replaces the plain 404 and 405 of
// ServeMux, and its redirects of unclean paths, by problems [D10].
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.EscapedPath(); path.Clean(p) != p { // unclean; the keys of data operations are encoded
		s.fail(w, r, errNoPath())
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	discard := headerOnly{http.Header{}}
	h.ServeHTTP(discard, r)
	allow := discard.Header().Get("Allow")
	if allow == "" {
		s.fail(w, r, errNoPath())
		return
	}
	w.Header().Set("Allow", allow)
	s.fail(w, r, methodNotAllowed{method: r.Method, allow: allow})
}

// errNoPath is the error of an unknown path.
func errNoPath() error {
	return svc.Errorf(svc.NotFound, svc.CodePathNotFound, "unknown path").
		WithHint("read the operations in GET /v1/openapi.json")
}

// headerOnly keeps the header of a response and drops the rest.
type headerOnly struct{ header http.Header }

func (h headerOnly) Header() http.Header       { return h.header }
func (headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (headerOnly) WriteHeader(int)             {}
