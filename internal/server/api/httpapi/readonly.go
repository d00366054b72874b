package httpapi

import (
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// forceParameter lets a request write data of a read-only project.
const forceParameter = "force"

// writable refuses the requests of an operation that write data of a read-only project, unless they
// have force=true. The parameter does not reach next.
func (s *Server) writable(pattern string, next http.HandlerFunc) http.HandlerFunc {
	if !s.writesData(pattern) {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		forced := query.Get(forceParameter) == "true"
		query.Del(forceParameter)
		r.URL.RawQuery = query.Encode()
		if !forced && !onlyReads(pattern, r) {
			if err := s.refuseReadOnly(r); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		next(w, r)
	}
}

// writesData reports whether an operation may write what the bindings of a version hold.
func (s *Server) writesData(pattern string) bool {
	method, _, _ := strings.Cut(pattern, " ")
	switch {
	case method == http.MethodGet, method == http.MethodHead, strings.HasSuffix(pattern, "/analytics/query"):
		return false
	case pattern == "POST "+versionRoute+"/scheduled": // its handler begins an event
		return true
	}
	return s.isData(pattern)
}

// refuseReadOnly returns the error of a write to a version of a read-only project.
func (s *Server) refuseReadOnly(r *http.Request) error {
	p, err := s.Projects.Project(r.Context(), r.PathValue("project"))
	if err != nil || !p.ReadOnly {
		return err
	}
	return svc.Errorf(svc.Conflict, svc.CodeProjectReadOnly, "project %s is read-only: its data is not changed", p.ID).
		WithHint("add force=true (--force) to change it all the same, or make the project writable: svcctl projects set %s --read-only=false", p.ID)
}
