package supervisor

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// dataRetry is the RetryAfter while a runtime restarts.
const dataRetry = time.Second

// Data sends r to the worker host of a version that serves; only path and query of
// r's URL matter. The caller closes the body of the response. An error response is
// an svc.Error; without a serving runtime the error is Unavailable.
func (s *Supervisor) Data(ref svc.Ref, r *http.Request) (*http.Response, error) {
	p, err := s.serving(ref)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Data(r)
	switch {
	case err == nil:
		return resp, nil
	case r.Context().Err() != nil:
		return nil, fmt.Errorf("sending a data request to %s: %w", ref, err)
	case svc.CodeOf(err) == svc.CodeRuntimeNotOpen || !errors.As(err, new(*svc.Error)): // the host or its control line ended
		return nil, unavailable(ref).Because(err)
	}
	return nil, err
}

func unavailable(ref svc.Ref) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "the runtime of version %s does not serve", ref).After(dataRetry)
}
