package supervisor

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// dataRetry is the shortest RetryAfter while a runtime restarts.
const dataRetry = time.Second

// Data sends r to the worker host of a version that serves; only path and query of
// r's URL matter. The caller closes the body of the response. An error response is
// an svc.Error; without a serving runtime the error is Unavailable.
func (s *Supervisor) Data(ref svc.Ref, r *http.Request) (*http.Response, error) {
	p, err := s.serving(ref)
	if err != nil {
		return nil, err
	}
	p.pulse.touch()
	resp, err := p.Client().Data(r)
	switch {
	case err == nil:
		return resp, nil
	case r.Context().Err() != nil:
		return nil, fmt.Errorf("sending a data request to %s: %w", ref, err)
	case svc.CodeOf(err) == svc.CodeRuntimeNotOpen || !errors.As(err, new(*svc.Error)): // the host or its control line ended
		return nil, unavailable(svc.Runtime{Ref: ref}).Because(err)
	}
	return nil, err
}

// unavailable returns the error of a call that needs a runtime that serves.
func unavailable(now svc.Runtime) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "the runtime of version %s does not serve", now.Ref).After(retryAfter(now))
}

// restarting returns the error of a call that does not wait for the restart of a
// crashed runtime.
func restarting(now svc.Runtime) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeRuntimeRestarting, "the runtime of version %s crashed and is restarted: %s", now.Ref, now.LastError).
		After(retryAfter(now))
}

// retryAfter returns when a client should repeat a call.
func retryAfter(now svc.Runtime) time.Duration {
	return max(dataRetry, time.Until(now.RetryAt))
}
