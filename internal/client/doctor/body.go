package doctor

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// body checks that large bodies reach API and gateway. Nothing is sent: a proxy refuses a
// request by its Content-Length.
func (s *site) body(ctx context.Context) svc.Finding {
	size := s.Info.MaxUploadBytes
	upload, err := http.NewRequestWithContext(ctx, http.MethodPut, strings.TrimSuffix(s.Server, "/")+"/v1/uploads/doctor", unsent{})
	if err != nil {
		return svc.Found(svc.FindingFailed, "%v", err)
	}
	upload.ContentLength = size
	upload.Header.Set("Expect", "100-continue")
	resp, err := s.do(upload)
	if f, ok := s.limited("the API", resp, err, size); ok {
		return f
	}
	resp, err = s.ask(ctx, http.MethodPost, http.Header{"Expect": {"100-continue"}}, unsent{}, size)
	if f, ok := s.limited("the gateway", resp, err, size); ok {
		return f
	}
	return svc.Found(svc.FindingOK, "bodies of %d MiB arrive", size>>20)
}

// limited reports whether a body of size bytes does not arrive.
func (s *site) limited(where string, resp head, err error, size int64) (svc.Finding, bool) {
	switch {
	case errors.Is(err, errSent):
		return svc.Finding{}, false
	case err != nil:
		return s.unreachable(err), true
	case resp.code != http.StatusRequestEntityTooLarge || strings.HasPrefix(resp.header.Get("Content-Type"), "application/problem+json"):
		return svc.Finding{}, false
	}
	return svc.Found(svc.FindingFailed, "a proxy in front of %s refuses bodies of %d MiB with %s", where, size>>20, resp.status).
		WithAdvice("raise the proxy's limit to SVC_MAX_BUNDLE_SIZE for the API, and to what workers take for the gateway (nginx: client_max_body_size)"), true
}

var errSent = errors.New("the server wants the body")

// unsent is a body that ends the request when it is to be sent.
type unsent struct{}

func (unsent) Read([]byte) (int, error) { return 0, errSent }
