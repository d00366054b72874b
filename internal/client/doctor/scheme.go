package doctor

import (
	"context"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// scheme checks that workers see the scheme that visitors use: request.url has it, and
// redirects and cookies depend on it.
func (s *site) scheme(ctx context.Context) svc.Finding {
	resp, err := s.ask(ctx, http.MethodGet, nil, http.NoBody, 0)
	switch {
	case err != nil:
		return s.unreachable(err)
	case resp.seen() == "":
		return s.stranger(resp)
	case !strings.HasPrefix(resp.seen(), "proto="+s.visited.Scheme+" "):
		return svc.Found(svc.FindingFailed, "visitors use %s, workers see %s", s.visited.Scheme, resp.seen()).
			WithAdvice("let the proxy send X-Forwarded-Proto, and set SVC_TRUSTED_PROXIES to its address if that is not a loopback address")
	}
	return svc.Found(svc.FindingOK, "workers see %s", resp.seen())
}
