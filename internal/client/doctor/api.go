package doctor

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// api checks that the API answers, encrypted where others can listen, and that the URLs
// that it makes lead back to it.
func (s *site) api(ctx context.Context) svc.Finding {
	resp, err := s.health(ctx)
	if err != nil {
		return svc.Found(svc.FindingFailed, "%s does not answer: %v", s.Server, err).
			WithAdvice("start the server, or set --server to the address of its API")
	}
	if resp.code != http.StatusOK || resp.header.Get("X-Request-Id") == "" {
		return svc.Found(svc.FindingFailed, "%s answers %s, and is not the API", s.Server, resp.status).
			WithAdvice("set --server to the address of the API, or let the proxy pass its host on to port 8790")
	}
	if s.Info != nil && strings.TrimSuffix(s.Server, "/") != s.Info.APIURL {
		return svc.Found(svc.FindingFailed, "asked at %s, the API makes URLs with %s", s.Server, s.Info.APIURL).
			WithAdvice("let the proxy keep Host and send X-Forwarded-Proto, or set SVC_API_URL=%s", s.Server)
	}
	u, err := url.Parse(s.Server)
	if ip := net.ParseIP(u.Hostname()); err == nil && u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return svc.Found(svc.FindingWarning, "%s is not encrypted: tokens cross the network", s.Server).
			WithAdvice("reach the API by https: docs/guide/proxies.md")
	}
	return svc.Found(svc.FindingOK, "%s answers", s.Server)
}

func (s *site) health(ctx context.Context) (head, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.Server, "/")+"/v1/health", http.NoBody)
	if err != nil {
		return head{}, err
	}
	return s.do(r)
}
