package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// Polls start quick, because a small deploy takes about 150 ms, and slow down
// to spare the service during a long one.
const (
	firstPoll = 20 * time.Millisecond
	lastPoll  = 3 * time.Second
	// patience is how long a service may be away before Wait gives up: a
	// restarted daemon goes on with its deploys [D25].
	patience = 30 * time.Second
)

// Wait polls a version until it is ready, and returns it. onChange (nil for
// none) sees the first record and each one that has moved on. A version that
// ends elsewhere is a *VersionError. The only time limit is ctx.
func (c *Client) Wait(ctx context.Context, project, version string, onChange func(api.Version)) (api.Version, error) {
	var last api.Version
	err := poll(ctx, func() (bool, error) {
		v, err := c.Version(ctx, project, version)
		if err != nil {
			return false, err
		}
		if onChange != nil && moved(last, v) {
			onChange(v)
		}
		last = v
		return settled(v)
	})
	return last, err
}

// settled reports whether a deploy is over. deploy_ready is not the end.
// spec: States, the deploy_ready status.
func settled(v api.Version) (bool, error) {
	switch v.Status {
	case api.VersionStatusReady, api.VersionStatusDraining:
		return true, nil
	case api.VersionStatusFailed, api.VersionStatusArchived, api.VersionStatusDestroyed:
		return true, &VersionError{Version: v}
	case api.VersionStatusPending, api.VersionStatusFetching, api.VersionStatusBranching,
		api.VersionStatusPreparing, api.VersionStatusDeploying, api.VersionStatusDeployReady:
	}
	return false, nil
}

// moved reports whether there is something to tell after a.
func moved(a, b api.Version) bool {
	return a.Status != b.Status || len(a.Timeline) != len(b.Timeline) || len(a.Warnings) != len(b.Warnings)
}

// WaitPromotion polls a promotion until its saga is over. One that was undone
// is a *PromotionError.
func (c *Client) WaitPromotion(ctx context.Context, project, operation string) (api.Promotion, error) {
	var last api.Promotion
	err := poll(ctx, func() (bool, error) {
		p, err := c.Promotion(ctx, project, operation)
		if err != nil {
			return false, err
		}
		last = p
		if p.Status == api.PromotionStatusFailed {
			return true, &PromotionError{Promotion: p}
		}
		return p.Status != api.PromotionStatusRunning, nil
	})
	return last, err
}

// poll calls look until it is done, fails for good, or ctx ends.
func poll(ctx context.Context, look func() (done bool, err error)) error {
	pause := firstPoll
	var awaySince time.Time
	for {
		done, err := look()
		again, passing := passing(err)
		switch {
		case done, err != nil && !passing:
			return err
		case err == nil:
			awaySince = time.Time{}
		case awaySince.IsZero():
			awaySince = time.Now()
		case time.Since(awaySince) > patience:
			return err
		}
		if err := sleep(ctx, max(jitter(pause), again)); err != nil {
			return err
		}
		pause = min(pause*3/2, lastPoll)
	}
}

// passing reports whether err may be gone at the next poll, and how long the
// service asked to wait.
func passing(err error) (again time.Duration, ok bool) {
	var e *Error
	switch {
	case errors.Is(err, ErrUnreachable):
		return 0, true
	case !errors.As(err, &e):
		return 0, false
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return e.RetryAfter, true
	}
	return 0, false
}

// jitter spreads clients that started together: d, up to a fifth more or less.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(d*2/5+1) //nolint:gosec // spreading load needs no secret
}
