package deploy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	versionHeader = "Svc-Version" // names the version that answered [D44]
	probeTimeout  = 10 * time.Second
	probeTries    = 3
	probeDelay    = 200 * time.Millisecond
)

// probe requests a version's path / through SVC_GATEWAY_VERIFY_URL, as its users
// do. spec: [C16.8].
type probe struct {
	verify  Verify
	ingress *svc.Ingress
	client  http.Client
	route   string // header that names the version: the request has production's host; "" for the preview's
}

func newProbe(d Deps, v Verify) *probe {
	p := &probe{verify: v, ingress: d.Ingress, client: *d.HTTP}
	p.verify.URL = strings.TrimSuffix(p.verify.URL, "/") + "/"
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p
}

// check returns nil if the worker of ref answered with any status. It retries: a
// route through other machines may need time.
func (p *probe) check(ctx context.Context, ref svc.Ref) error {
	var err error
	for try := range probeTries {
		if err = p.once(ctx, ref); err == nil {
			return nil
		}
		if try < probeTries-1 && backoff.Sleep(ctx, probeDelay<<try) != nil {
			return ctx.Err()
		}
	}
	return err
}

func (p *probe) once(ctx context.Context, ref svc.Ref) error {
	_, err := p.get(ctx, ref, "")
	return err
}

// passes returns nil if the worker of ref answers 2xx at a path, which begins with "/".
func (p *probe) passes(ctx context.Context, ref svc.Ref, path string) error {
	status, err := p.get(ctx, ref, strings.TrimPrefix(path, "/"))
	if err == nil && status/100 != 2 {
		err = svc.Errorf(svc.Unprocessable, svc.CodeReleaseCheck, "the new version answered GET %s with %d", path, status).
			WithHint("read the log of the version")
	}
	return err
}

// get returns the status of an answer of ref.
func (p *probe) get(ctx context.Context, ref svc.Ref, path string) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.verify.URL+path, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("creating the probe: %w", err)
	}
	req.Host = p.ingress.PreviewHost(ref)
	if p.route != "" {
		req.Host = p.ingress.ProdHost(ref.Project)
		req.Header.Set(p.route, ref.String())
	}
	req.Header.Set(p.verify.Header, p.verify.Secret.Reveal())
	req.Header.Set("User-Agent", "svcctl-verify")
	res, err := p.client.Do(req)
	if err != nil {
		return 0, p.failed("no answer for %s", req.Host).Because(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get(versionHeader); got != ref.Version {
		return 0, p.failed("the answer for %s was %d with %s %q, not from version %s",
			req.Host, res.StatusCode, versionHeader, got, ref.Version)
	}
	return res.StatusCode, nil // any status counts; the body may be endless and is not read
}

func (p *probe) failed(format string, args ...any) *svc.Error {
	e := svc.Errorf(svc.Unavailable, svc.CodeVerifyFailed, "the probe through the gateway failed: "+format, args...)
	if p.route != "" {
		return e.WithHint("read the log of the version")
	}
	return e.
		WithHint("SVC_GATEWAY_VERIFY_URL must lead to this gateway and keep Host and headers")
}
