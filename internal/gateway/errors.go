package gateway

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/gateway/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// Codes of the gateway's own answers, in the header Svc-Error [D44].
const (
	codeNoRoute     = "route_not_found"
	codeArchived    = "version_archived"
	codeNotReady    = "version_not_ready"
	codeFailed      = "version_failed"
	codeDestroyed   = "version_destroyed"
	codeUnavailable = "runtime_unavailable"
	codeBadRequest  = "bad_request"
	codeTooLarge    = "header_too_large"
)

// Retry-After, in every 503 [D14]. Soon is for what the gateway waits for
// itself, later for what somebody must do something about.
const (
	retrySoon  = time.Second
	retryLater = time.Minute
)

// Internal outcomes of a claim; they are never answered.
var (
	errRetired     = errors.New("the runtime takes no more requests")
	errStarting    = errors.New("the runtime is starting")
	errUnreachable = errors.New("the runtime cannot be reached")
)

func errNoRoute() *svc.Error {
	return svc.Errorf(svc.NotFound, codeNoRoute, "no version is served on this host").
		WithHint("hosts are {project}.{base domain} and {version}.{project}.{base domain}")
}

func errNoProduction(project string) *svc.Error {
	return svc.Errorf(svc.NotFound, codeNoRoute, "project %s has no production version", project).
		WithHint("promote a ready version")
}

func errStatus(v *version) *svc.Error {
	var e *svc.Error
	switch v.state.Status { //nolint:exhaustive // the others are steps of a deploy
	case svc.StatusArchived:
		e = svc.Errorf(svc.Unavailable, codeArchived, "version %s of %s is archived", v.ref.Version, v.ref.Project).
			WithHint("wake it to serve it again")
		e.RetryAfter = retryLater
	case svc.StatusFailed:
		e = svc.Errorf(svc.Unavailable, codeFailed, "the deploy of version %s of %s failed", v.ref.Version, v.ref.Project).
			WithHint("its record says why; deploy a new version")
		e.RetryAfter = retryLater
	case svc.StatusDestroyed:
		e = svc.Errorf(svc.NotFound, codeDestroyed, "version %s of %s was destroyed", v.ref.Version, v.ref.Project)
	default:
		e = svc.Errorf(svc.Unavailable, codeNotReady, "version %s of %s is not ready yet: it is %s",
			v.ref.Version, v.ref.Project, v.state.Status)
		e.RetryAfter = retrySoon
	}
	return e
}

func errHeld() *svc.Error {
	e := svc.Errorf(svc.Unavailable, codeNotReady, "the production version is being changed")
	e.RetryAfter = retrySoon
	return e
}

func errNotStarted() *svc.Error {
	e := svc.Errorf(svc.Unavailable, codeNotReady, "the runtime of this version is starting")
	e.RetryAfter = retrySoon
	return e
}

func errNoRuntime(v *version) *svc.Error {
	return svc.Errorf(svc.Internal, codeUnavailable, "version %s of %s has no running runtime", v.ref.Version, v.ref.Project)
}

func errBroken(cause error) *svc.Error {
	return svc.Errorf(svc.Internal, codeUnavailable, "the runtime ended before it answered").Because(cause)
}

// badRequest turns an error of the grammar into an answer.
func badRequest(err error) *svc.Error {
	var e *http1.Error
	if errors.As(err, &e) && e.Status == 431 {
		return svc.Errorf(svc.TooLarge, codeTooLarge, "%s", e.Detail)
	}
	return svc.Errorf(svc.BadRequest, codeBadRequest, "the request cannot be understood").Because(err)
}

// statusOf is the HTTP status of an answer with this error.
func statusOf(e *svc.Error) int {
	var grammar *http1.Error
	switch {
	case e.Code == codeUnavailable:
		return 502
	case e.Code == codeTooLarge:
		return 431
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
