package supervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// dataRetry is when to ask again for the data of a runtime that is coming back.
const dataRetry = time.Second

// Data sends r to the host of a version that serves, which knows the version's
// data: r's URL needs its path and query only. The caller closes the answer's
// body. What the host refuses is an svc.Error; a runtime that is gone is
// Unavailable.
func (s *Supervisor) Data(ref svc.Ref, r *http.Request) (*http.Response, error) {
	socket, err := s.dataSocket(ref)
	if err != nil {
		return nil, err
	}
	// A connection of its own: these requests are rare, and hosts come and go.
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", "runtime"
	resp, err := transport.RoundTrip(r)
	if ctxErr := r.Context().Err(); err != nil && ctxErr != nil {
		return nil, fmt.Errorf("asking the runtime of %s: %w", ref, ctxErr)
	}
	if err != nil {
		return nil, unavailable(ref).Because(err)
	}
	if err := control.ReadError(resp); err != nil {
		return nil, err
	}
	return resp, nil
}

// dataSocket is where the host of ref serves its data: beside the worker's.
func (s *Supervisor) dataSocket(ref svc.Ref) (string, error) {
	u, err := s.unit(ref, false)
	if err != nil && !errors.Is(err, svc.Conflict) {
		return "", err
	}
	if err == nil {
		if e := u.describe().Endpoint; e.Socket != "" {
			return filepath.Join(filepath.Dir(e.Socket), control.DataSocket), nil
		}
	}
	return "", unavailable(ref)
}

func unavailable(ref svc.Ref) *svc.Error {
	e := svc.Errorf(svc.Unavailable, "runtime_unavailable", "the runtime of version %s does not serve", ref)
	e.RetryAfter = dataRetry
	return e
}
