package deploy

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

const maxErrorText = 2 << 10 // bytes of a version's error [D16]

// fail ends the deploy: it stops the runtime, stores the reason, makes the gateway
// answer version_failed, and removes the files. spec: [C7.13] to [C7.18].
func (r *run) fail(ctx context.Context, step string, cause error) error {
	reason, output := errorText(step, cause, r.hidden()), clip(redact(svc.AsError(cause).Output, r.hidden()))
	r.log.ErrorContext(ctx, "deploy failed", "step", step, "code", svc.CodeOf(cause), "error", redact(cause.Error(), r.hidden()))
	if r.v.Status == svc.StatusPreparing || r.v.Status == svc.StatusDeploying {
		if err := r.deps.Runtimes.StopVersion(ctx, r.v.Ref); err != nil {
			r.log.ErrorContext(ctx, "stopping the runtime of a failed version failed", "error", err)
		}
	}
	failpoint.Hit("deploy/" + stepFailed + "/started")
	if err := r.move(ctx, svc.TriggerFail, svc.Change{Error: reason, ErrorOutput: output}); err != nil {
		return err
	}
	failpoint.Hit("deploy/" + stepFailed + "/done")
	r.cleanUp(ctx, r.v.Ref)
	r.deps.Observer.DeployDone("failed")
	r.deps.Traces.DeployEnded(r.v, "failed")
	return nil
}

// errCleanupLimit ends a cleanup that the object store answers with retriable
// errors.
var errCleanupLimit = errors.New("the cleanup exceeded its time limit")

// cleanUp removes the bundle and the data of a failed version and keeps its logs and its source maps.
// A retry is a new version [D16].
func (s *Service) cleanUp(ctx context.Context, ref svc.Ref) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.CleanupLimit, errCleanupLimit)
	defer cancel()
	err := errors.Join(s.bundles.removeFailed(ctx, ref), s.deps.Branches.Destroy(ctx, ref))
	if err != nil {
		s.log.WarnContext(ctx, "cleanup of a failed version incomplete; retrying at the next start", "project", ref.Project, "version", ref.Version, "error", err)
	}
}

// canTolerate reports whether lenient mode may continue after a failed step: not
// without an unpacked bundle, and not with data that must be scrubbed.
func (r *run) canTolerate() bool { return r.deps.Lenient && r.bundleDir != "" && r.v.ScrubID == "" }

// tolerate reports a failure in all places of [D47].
func (r *run) tolerate(ctx context.Context, step string, cause error) error {
	warning := errorText(step, cause, r.hidden()) + consequence(step)
	r.log.WarnContext(ctx, "step failed; continuing (lenient mode)", "step", step, "error", redact(cause.Error(), r.hidden()))
	r.deps.Observer.StepTolerated(step)
	return r.deps.Versions.AddWarning(ctx, r.v.Ref, warning)
}

// consequence says what a version lacks after a failed step, if the failure itself
// does not say it.
func consequence(step string) string {
	if step == string(svc.StatusBranching) {
		return "; the version continues without its parent's data"
	}
	return ""
}

func tooManyAttempts() error {
	return svc.Errorf(svc.Internal, svc.CodeTooManyAttempts, "the deploy was started %d times and never completed this step", MaxAttempts).
		WithHint("read the daemon's log for the cause, and create a new version")
}

// errorText returns "<step>: <code>: <text>" [D16]. Internal causes appear only in
// the log.
func errorText(step string, err error, env map[string]string) string {
	e := *svc.AsError(err)
	e.Err, e.Output = nil, ""
	if !isKnown(err) {
		e.Detail, e.Hint = internalDetail, internalHint
	}
	return clip(redact(step+": "+e.Code+": "+e.Error(), env))
}

// What a client sees of an error that is not written for users.
const (
	internalDetail = "an internal error"
	internalHint   = "read the daemon's log for the cause"
)

// isKnown reports whether err is written for users.
func isKnown(err error) bool {
	var e *svc.Error
	return errors.As(err, &e)
}

// redact is for every text that this package stores or logs. The worker host has
// redacted the worker's output before cutting it.
func redact(s string, env map[string]string) string { return svc.Redact(s, env) }

// clip returns s as valid, printable UTF-8 of at most maxErrorText bytes.
func clip(s string) string {
	s = text.Clean(strings.ToValidUTF8(s, "?"))
	if len(s) <= maxErrorText {
		return s
	}
	const more = "…"
	cut := maxErrorText - len(more)
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + more
}
