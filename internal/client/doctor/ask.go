package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// client returns an HTTP/1.1 client that connects to the address of the gateway for its
// hosts, follows no redirect, and shows a body to be sent to the server first.
func (s *site) client() *http.Client {
	dialer := &net.Dialer{Timeout: limit}
	return &http.Client{
		Timeout:       limit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if host, _, _ := net.SplitHostPort(address); host == s.visited.Hostname() {
					address = s.address()
				}
				return dialer.DialContext(ctx, network, address)
			},
			TLSClientConfig: &tls.Config{RootCAs: s.Roots}, DisableKeepAlives: true,
			ExpectContinueTimeout: limit / 3,
		},
	}
}

// head is the head of a response.
type head struct {
	code   int
	status string // code and words
	header http.Header
}

// seen is what the gateway saw of the request; "" if another program answered.
func (h head) seen() string { return h.header.Get(svc.SeenHeader) }

// ask sends a request that the gateway answers by itself.
func (s *site) ask(ctx context.Context, method string, header http.Header, body io.Reader, size int64) (head, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.visited.String(), body)
	if err != nil {
		return head{}, err
	}
	r.ContentLength = size
	maps.Copy(r.Header, header)
	r.Header.Set(svc.DoctorHeader, "1")
	return s.do(r)
}

func (s *site) do(r *http.Request) (head, error) {
	resp, err := s.http.Do(r)
	if err != nil {
		return head{}, err
	}
	return head{resp.StatusCode, resp.Status, resp.Header}, resp.Body.Close()
}

// unreachable is the finding of a check that got no answer.
func (s *site) unreachable(err error) svc.Finding {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if refused, ok := errors.AsType[*net.OpError](err); ok && refused.Op == "remote error" && len(s.Hosts) == 0 {
		return svc.Found(svc.FindingWarning, "no version has a host yet, and %s has no certificate: %v", s.visited.Hostname(), err).
			WithAdvice("deploy a worker, then run svcctl doctor again: on demand, only hosts of versions get certificates")
	}
	return svc.Found(svc.FindingFailed, "%s://%s does not answer at %s: %v", s.visited.Scheme, s.visited.Host, s.address(), err).
		WithAdvice("check that the proxy or the gateway listens there, and GATEWAY_URL")
}

// stranger is the finding of a check that another program answered.
func (s *site) stranger(h head) svc.Finding {
	return svc.Found(svc.FindingFailed, "%s://%s answers %s, and not by the gateway", s.visited.Scheme, s.visited.Host, h.status).
		WithAdvice("let the proxy pass the hosts below the base domain on to the gateway, with the Host header unchanged")
}

// apart is the difference of two clocks without the time of the request.
func apart(theirs, before, after time.Time) time.Duration {
	switch {
	case theirs.Before(before.Truncate(time.Second)):
		return before.Sub(theirs)
	case theirs.After(after):
		return theirs.Sub(after)
	}
	return 0
}
