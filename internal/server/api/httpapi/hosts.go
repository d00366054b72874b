package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// checkHost rejects a request whose Host header names another site, which can make
// its own name resolve to this server (DNS rebinding). Allowed are addresses, names
// without a dot, localhost, and the names of PublicURL and Hosts. The error is
// Forbidden host_not_allowed.
func (s *Server) checkHost(r *http.Request) error {
	name := hostName(r.Host)
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return nil
	}
	if slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return nil
	}
	if u, err := url.Parse(s.PublicURL); err == nil && strings.EqualFold(u.Hostname(), name) {
		return nil
	}
	return svc.Errorf(svc.Forbidden, svc.CodeHostNotAllowed, "the API is not served under the name %q", name).
		WithHint("set SVC_API_URL to the API's public URL, or add the name to SVC_API_HOSTS")
}

// hostName returns a Host header in lower case, without port and trailing dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
