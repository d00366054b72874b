package gateway

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// Values of Retry-After, which each 503 has [D14]. retrySoon is for conditions that
// end by themselves, retryLater for those that need an operator.
const (
	retrySoon  = time.Second
	retryLater = time.Minute
)

// Internal results of a claim; a client never receives them.
var (
	errRetired     = errors.New("the runtime accepts no more requests")
	errStarting    = errors.New("the runtime is starting")
	errUnreachable = errors.New("the runtime cannot be reached")
)

func errNoRoute() *svc.Error {
	return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "no version is served on this host").
		WithHint("hosts are {project}.{base domain} and {version}.{project}.{base domain}")
}

func errNoVersion(p *project) *svc.Error {
	if p.name != "" {
		return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "preview %s of project %s has no version", p.name, p.id).
			WithHint("deploy one with this preview name")
	}
	return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "project %s has no production version", p.id).
		WithHint("promote a ready version")
}

func errStatus(v *version) *svc.Error {
	switch v.state.Status { //nolint:exhaustive // the others are steps of a deploy
	case svc.StatusArchived:
		return svc.Errorf(svc.Unavailable, svc.CodeVersionArchived, "version %s of %s is archived", v.ref.Version, v.ref.Project).
			WithHint("wake it to serve it again").After(retryLater)
	case svc.StatusFailed:
		return svc.Errorf(svc.Unavailable, svc.CodeVersionFailed, "the deploy of version %s of %s failed", v.ref.Version, v.ref.Project).
			WithHint("its record says why; deploy a new version").After(retryLater)
	case svc.StatusDestroyed:
		return svc.Errorf(svc.NotFound, svc.CodeVersionDestroyed, "version %s of %s was destroyed", v.ref.Version, v.ref.Project)
	}
	return svc.Errorf(svc.Unavailable, svc.CodeVersionNotReady, "version %s of %s is not ready yet: it is %s",
		v.ref.Version, v.ref.Project, v.state.Status).After(retrySoon)
}

func errHeld() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeVersionNotReady, "the production version is being changed").After(retrySoon)
}

func errNotStarted() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeVersionNotReady, "the runtime of this version is starting").After(retrySoon)
}

func errRestarting(v *version, now time.Time) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeRuntimeRestarting, "the runtime of this version crashed and is restarted after a wait").
		WithHint("the log of the version says why it crashed").After(max(retrySoon, v.state.RetryAt.Sub(now)))
}

func errNoRuntime(v *version) *svc.Error {
	return svc.Errorf(svc.Internal, svc.CodeRuntimeUnavailable, "version %s of %s has no running runtime", v.ref.Version, v.ref.Project)
}

func errBroken(cause error) *svc.Error {
	return svc.Errorf(svc.Internal, svc.CodeRuntimeUnavailable, "the runtime ended before it answered").Because(cause)
}

func errNotAsked() *svc.Error {
	return errBroken(errors.New("it switched protocols without being asked to"))
}

func errSlowBody(limit time.Duration) *svc.Error {
	return svc.Errorf(svc.BadRequest, svc.CodeBodyIncomplete, "no byte of the body arrived within %s", limit)
}

func errHandshake(limit time.Duration) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTimeout, "the worker did not answer the websocket handshake within %s", limit)
}

const headTooLarge = "the request head is too large"

// badRequest returns the response to a request that violates the grammar.
func badRequest(err error) *svc.Error {
	var e *http1.Error
	if errors.As(err, &e) && e.Status == 431 {
		return svc.Errorf(svc.TooLarge, svc.CodeHeaderTooLarge, "%s", e.Detail)
	}
	if e == nil {
		return svc.Errorf(svc.BadRequest, svc.CodeBadRequest, "malformed request").Because(err)
	}
	return svc.Errorf(svc.BadRequest, svc.CodeBadRequest, "malformed request: %s", e.Detail).Because(err)
}

// statusOf returns the HTTP status of a response with this error.
func statusOf(e *svc.Error) int {
	var grammar *http1.Error
	switch {
	case e.Code == svc.CodeRuntimeUnavailable:
		return 502
	case e.Code == svc.CodeHeaderTooLarge:
		return 431
	case e.Code == svc.CodeBodyIncomplete:
		return 408
	case e.Code == svc.CodeTimeout:
		return 504
	case errors.As(e.Err, &grammar):
		return grammar.Status
	case e.Kind == svc.NotFound:
		return 404
	case e.Kind == svc.Unavailable:
		return 503
	case e.Kind == svc.BadRequest:
		return 400
	}
	return 500
}
