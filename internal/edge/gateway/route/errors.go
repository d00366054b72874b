package route

import (
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Internal results of a claim; a client never receives them.
var (
	errRetired  = errors.New("the runtime accepts no more requests")
	errStarting = errors.New("the runtime is starting")
)

// Values of Retry-After, which each 503 has [D14]. RetrySoon is for conditions that
// end by themselves, retryLater for those that need an operator.
const (
	RetrySoon  = time.Second
	retryLater = time.Minute
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

func errStatus(v *Version) *svc.Error {
	switch v.State.Status { //nolint:exhaustive // the others are steps of a deploy
	case svc.StatusArchived:
		return svc.Errorf(svc.Unavailable, svc.CodeVersionArchived, "version %s of %s is archived", v.Ref.Version, v.Ref.Project).
			WithHint("wake it to serve it again").After(retryLater)
	case svc.StatusFailed:
		return svc.Errorf(svc.Unavailable, svc.CodeVersionFailed, "the deploy of version %s of %s failed", v.Ref.Version, v.Ref.Project).
			WithHint("its record says why; deploy a new version").After(retryLater)
	case svc.StatusDestroyed:
		return svc.Errorf(svc.NotFound, svc.CodeVersionDestroyed, "version %s of %s was destroyed", v.Ref.Version, v.Ref.Project)
	}
	return svc.Errorf(svc.Unavailable, svc.CodeVersionNotReady, "version %s of %s is not ready yet: it is %s",
		v.Ref.Version, v.Ref.Project, v.State.Status).After(RetrySoon)
}

// ErrHeld says that production changes.
func ErrHeld() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeVersionNotReady, "the production version is being changed").After(RetrySoon)
}

func errNotStarted() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeVersionNotReady, "the runtime of this version is starting").After(RetrySoon)
}

func errRestarting(v *Version, now time.Time) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeRuntimeRestarting, "the runtime of this version crashed and is restarted after a wait").
		WithHint("the log of the version says why it crashed").After(max(RetrySoon, v.State.RetryAt.Sub(now)))
}

// ErrNoRuntime says that the version has no runtime that answers.
func ErrNoRuntime(v *Version) *svc.Error {
	return svc.Errorf(svc.Internal, svc.CodeRuntimeUnavailable, "version %s of %s has no running runtime", v.Ref.Version, v.Ref.Project)
}

func errVersionBusy(v *Version) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeTooManyConnections, "version %s of %s serves too many requests at the same time", v.Ref.Version, v.Ref.Project).
		After(RetrySoon)
}

// errNoCallee is the error of a call to what does not exist.
func errNoCallee(ref svc.Ref) *svc.Error {
	if ref.Version == "" {
		return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "project %s does not exist or has no version yet", ref.Project)
	}
	return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "project %s has no version or preview %q", ref.Project, ref.Version)
}

func errDoctor() *svc.Error {
	return svc.Errorf(svc.NotFound, svc.CodeRouteNotFound, "the gateway answers requests with the header %s by itself", svc.DoctorHeader)
}

func errReadOnly(project string) *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeProjectReadOnly, "project %s is read-only: only GET, HEAD and OPTIONS are answered", project).
		WithHint("try again later").After(retryLater)
}

func errAway() *svc.Error {
	return svc.Errorf(svc.Unavailable, svc.CodeRelayUnreachable, "the server that runs this version cannot be reached").After(RetrySoon)
}
