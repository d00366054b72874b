package lifecycle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// SetEnv replaces the overrides of a version [D27]. A version that serves is restarted
// first: new requests wait, requests in flight get DefaultEnvDrain and the grace of
// the runtime. The new overrides are recorded when the worker serves with them. If it
// does not start, the old ones stay.
//
// Errors: Unprocessable with one field per invalid variable [D26] and per variable with
// the name of a binding (env_shadows_binding; only of a version that serves); Internal,
// env_restart_failed; Conflict, version_not_ready, version_failed or
// promote_in_progress; Gone, version_destroyed; NotFound; the error of c.Match.
// spec: [C5.9] to [C5.16] [C5.21] [C5.22].
func (s *Service) SetEnv(ctx context.Context, ref svc.Ref, c svc.EnvChange) (svc.Environment, error) {
	if err := svc.Invalid(svc.CheckEnv(c.Vars, "/vars")); err != nil {
		return svc.Environment{}, err
	}
	own, end, err := s.begin(ctx, ref)
	if err != nil {
		return svc.Environment{}, err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err == nil {
		err = svc.CanSetEnv(v)
	}
	if err == nil && v.Status == svc.StatusDraining {
		err = isDraining(ref)
	}
	if err != nil {
		return svc.Environment{}, err
	}
	before, err := s.deps.Versions.Environment(own, ref)
	if err == nil && c.Match != nil {
		err = c.Match(before)
	}
	if err != nil || maps.Equal(before.Overrides, c.Vars) {
		return before, err
	}
	if err := s.applyEnv(own, v, c.Vars); err != nil {
		return svc.Environment{}, err
	}
	s.logger(ref).InfoContext(own, "variables changed", "keys", len(c.Vars), "restarted", v.Status.Serves())
	return s.deps.Versions.Environment(own, ref)
}

// applyEnv restarts a version that serves with the overrides vars, and records them.
func (s *Service) applyEnv(ctx context.Context, v svc.Version, vars map[string]string) error {
	if !v.Status.Serves() {
		_, err := s.deps.Versions.SetEnv(ctx, v.Ref, vars)
		return err
	}
	defer s.deps.Routes.HoldForRestart(v.Ref)()
	s.drainFor(ctx, v.Ref, s.deps.EnvDrain)
	if err := s.deps.Runtimes.Restart(ctx, v.Ref, vars); err != nil {
		return restartFailed(v.Ref, err)
	}
	failpoint.Hit("lifecycle/env/restarted")
	if _, err := s.deps.Versions.SetEnv(ctx, v.Ref, vars); err != nil {
		return errors.Join(err, s.deps.Runtimes.Restart(ctx, v.Ref, v.Env))
	}
	return nil
}

// restartFailed returns the error of a version that did not start with new overrides.
func restartFailed(ref svc.Ref, cause error) error {
	known := svc.AsError(cause)
	if known.Code == svc.CodeEnvShadowsBinding { // found at the start of the worker only
		fields := slices.Clone(known.Fields)
		for i := range fields {
			fields[i].Pointer = "/vars" + strings.TrimPrefix(fields[i].Pointer, "/env")
		}
		return svc.Invalid(fields)
	}
	if known.Kind == svc.Conflict || errors.Is(stopping(cause), errStopping) {
		return stopping(cause)
	}
	return svc.Errorf(svc.Internal, svc.CodeEnvRestartFailed, "version %s did not start with the new variables: %s: %s", ref, known.Code, known.Detail).
		WithHint("correct the variables and set them again; the version runs with the old ones").Because(cause)
}
