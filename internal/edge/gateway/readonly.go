package gateway

import (
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
)

// mayChange reports whether the method of a visitor's request allows it to change something. The
// calls of other workers are connections, so they pass: what they write is refused by the bindings.
func (x *request) mayChange() bool {
	if x.call != nil {
		return false
	}
	switch string(x.req.Method) {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}

func errReadOnly(project string) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeProjectReadOnly, "project %s is read-only: only GET, HEAD and OPTIONS are answered", project).
		WithHint("try again later").After(retryLater)
}
