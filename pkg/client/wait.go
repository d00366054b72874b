package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// A poll comes after a share of the time that has passed: the answer about a small deploy,
// which takes about 30 ms, is a few milliseconds late, and a long one gets few polls.
const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = 3 * time.Second
	pollShare = 8
	// patience is how long a service may be unreachable: a restarted daemon
	// continues its deploys.
	patience = 30 * time.Second
)

// Wait polls a version until its deploy has ended, and returns its last record.
// onChange, if not nil, is called with the first record and with each that has
// another status, step or warning. The error is a *VersionError if the deploy
// ended in another status than ready. ctx is the only time limit, except for a
// service that has been unreachable or unavailable for 30 seconds.
//
// Codes: version_not_found.
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

// settled reports whether a deploy has ended. It has not in deploy_ready.
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

// moved reports whether b differs from a in what onChange is called for.
func moved(a, b api.Version) bool {
	return a.Status != b.Status || len(a.Timeline) != len(b.Timeline) || len(a.Warnings) != len(b.Warnings) || detail(a) != detail(b)
}

// detail is what the last step says.
func detail(v api.Version) string {
	if len(v.Timeline) == 0 {
		return ""
	}
	return v.Timeline[len(v.Timeline)-1].Detail
}

// WaitPromotion polls a promotion until it has ended, and returns its last
// record. The error is a *PromotionError if the promotion was undone. The time
// limits are those of [Client.Wait].
//
// Codes: promotion_not_found.
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

// poll calls look until it is done, fails with a lasting error, or ctx ends.
func poll(ctx context.Context, look func() (done bool, err error)) error {
	began := time.Now()
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
		pause := min(max(firstPoll, time.Since(began)/pollShare), lastPoll)
		if err := sleep(ctx, max(jitter(pause), again)); err != nil {
			return err
		}
	}
}

// passing reports whether the next poll may succeed after err, and the pause
// that the service asked for.
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

// jitter spreads clients that started together: it returns d, up to a fifth more
// or less.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(d*2/5+1) //nolint:gosec // spreading load needs no secret
}
