package deploy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	versionHeader = "Svc-Version" // names the version that answered [D44]
	probeTimeout  = 10 * time.Second
	probeTries    = 3
	probeDelay    = 200 * time.Millisecond
)

// probe asks for a version's front page the way its users will, through
// SVC_GATEWAY_VERIFY_URL. spec: Operator configuration.
type probe struct {
	verify  Verify
	ingress *svc.Ingress
	client  http.Client
}

func newProbe(d Deps) *probe {
	p := &probe{verify: d.Verify, ingress: d.Ingress, client: *d.HTTP}
	p.verify.URL = strings.TrimSuffix(p.verify.URL, "/") + "/"
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p
}

// check passes when the worker of ref answered, whatever its status. A path
// through other machines may need a moment, so it asks more than once.
func (p *probe) check(ctx context.Context, ref svc.Ref) error {
	var err error
	for try := range probeTries {
		if err = p.once(ctx, ref); err == nil {
			return nil
		}
		if try < probeTries-1 && !pause(ctx, probeDelay<<try) {
			return ctx.Err()
		}
	}
	return err
}

func (p *probe) once(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.verify.URL, http.NoBody)
	if err != nil {
		return fmt.Errorf("making the probe: %w", err)
	}
	req.Host = p.ingress.PreviewHost(ref)
	req.Header.Set(p.verify.Header, p.verify.Secret.Reveal())
	req.Header.Set("User-Agent", "svcctl-verify")
	res, err := p.client.Do(req)
	if err != nil {
		return p.failed("no answer for %s", req.Host).Because(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get(versionHeader); got != ref.Version {
		return p.failed("the answer for %s was %d with %s %q, not from version %s",
			req.Host, res.StatusCode, versionHeader, got, ref.Version)
	}
	return nil // status and body are the worker's business, and a body may never end
}

func (p *probe) failed(format string, args ...any) *svc.Error {
	return svc.Errorf(svc.Unavailable, "verify_failed", "the probe through the gateway failed: "+format, args...).
		WithHint("SVC_GATEWAY_VERIFY_URL must lead to this gateway and keep Host and headers")
}

// pause waits for d and reports whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
