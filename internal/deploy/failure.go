package deploy

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

const maxErrorText = 2 << 10 // bytes of a version's error [D16]

// fail ends the deploy: the runtime stops, the reason is stored, the gateway
// answers version_failed, and the files go. spec: States and transitions, fail-closed.
func (r *run) fail(ctx context.Context, step string, cause error) error {
	text := errorText(step, cause, r.v.Env)
	r.log.ErrorContext(ctx, "deploy failed", "step", step, "code", svc.CodeOf(cause), "error", redact(cause.Error(), r.v.Env))
	if r.v.Status == svc.StatusPreparing || r.v.Status == svc.StatusDeploying {
		if err := r.deps.Runtimes.StopVersion(ctx, r.v.Ref); err != nil {
			r.log.ErrorContext(ctx, "cannot stop the runtime of a failed version", "error", err)
		}
	}
	failpoint.Hit("deploy/" + stepFailed + "/started")
	if err := r.move(ctx, svc.TriggerFail, svc.Change{Error: text}); err != nil {
		return err
	}
	failpoint.Hit("deploy/" + stepFailed + "/done")
	r.discard(ctx, r.v.Ref)
	r.deps.Observer.DeployDone("failed")
	return nil
}

// errDiscardLimit is the cause of the end of a discard whose store answers and
// takes no writes: it is asked again for as long as there is time.
var errDiscardLimit = errors.New("the removal took too long")

// discard removes the bundle and the data of a failed version. Its logs stay,
// for they say why; a retry is a new version [D16].
func (s *Service) discard(ctx context.Context, ref svc.Ref) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.DiscardLimit, errDiscardLimit)
	defer cancel()
	err := errors.Join(s.bundles.remove(ref), s.deps.Branches.Discard(ctx, ref))
	if err != nil { // the next start tries again, and so does the version's destruction
		s.log.WarnContext(ctx, "the bundle or the data of a failed version were not removed", "project", ref.Project, "version", ref.Version, "error", err)
	}
}

// canTolerate reports whether lenient mode may go on: without an unpacked
// bundle there is nothing to run, and what has to be scrubbed and is not must
// not be seen.
func (r *run) canTolerate() bool { return r.deps.Lenient && r.bundleDir != "" && r.v.ScrubID == "" }

// tolerate writes a failure down in every place of [D47].
func (r *run) tolerate(ctx context.Context, step string, cause error) error {
	text := errorText(step, cause, r.v.Env) + consequence(step)
	r.log.WarnContext(ctx, "lenient mode goes over a failure", "step", step, "error", redact(cause.Error(), r.v.Env))
	r.deps.Observer.StepTolerated(step)
	return r.deps.Versions.AddWarning(ctx, r.v.Ref, text)
}

// consequence is what a version goes on without when a step failed, where the
// failure itself does not say it.
func consequence(step string) string {
	if step == string(svc.StatusBranching) {
		return "; the version goes on without its parent's data"
	}
	return ""
}

func tooManyAttempts() error {
	return svc.Errorf(svc.Internal, "too_many_attempts", "the deploy was begun %d times and never got through this step", MaxAttempts).
		WithHint("the daemon's log says why; create a new version to try again")
}

// errorText is "<step>: <code>: <text>" [D16]. Causes that are not meant for
// users stay in the log.
func errorText(step string, err error, env map[string]string) string {
	e := *svc.AsError(err)
	e.Err = nil
	if !isKnown(err) {
		e.Detail = "something went wrong inside the service"
		e.Hint = "the daemon's log has the cause"
	}
	return clip(redact(step+": "+e.Code+": "+e.Error(), env))
}

// isKnown reports whether err was written for users.
func isKnown(err error) bool {
	var e *svc.Error
	return errors.As(err, &e)
}

// redact is for every text that is stored or logged here. What a worker printed
// was redacted by its host, before it was shortened.
func redact(text string, env map[string]string) string { return svc.Redact(text, env) }

// clip makes text storable: valid, printable, at most 2 KiB.
func clip(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	if len(text) <= maxErrorText {
		return text
	}
	const more = "…"
	cut := maxErrorText - len(more)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}
