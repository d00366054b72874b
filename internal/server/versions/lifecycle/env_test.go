package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSetEnv: a version that serves is restarted while its requests wait; another one
// only stores the variables. An equal set changes nothing.
// spec: [C5.21] [C5.22]
func TestSetEnv(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready, pending := w.add(t, "v1", registrytest.ToReady()...), w.add(t, "v2")
	archived := w.add(t, "v3", append(registrytest.ToReady(), svc.TriggerArchive)...)
	d := w.start(t)
	vars := map[string]string{"A": "1"}
	for _, r := range []svc.Ref{ready, pending, archived, ready} {
		e, err := d.SetEnv(t.Context(), r, svc.EnvChange{Vars: vars})
		if err != nil || cmp.Diff(vars, e.Overrides) != "" || d.isHeld(r) {
			t.Errorf("%s: %v, held: %v, %v", r, e, d.isHeld(r), err)
		}
	}
	if got := d.log(); !slices.Equal(got, []string{"drain v1", "restart v1"}) {
		t.Errorf("the calls are %v", got)
	}
	if diff := cmp.Diff(vars, d.env[ready]); diff != "" {
		t.Errorf("the process has:\n%s", diff)
	}
}

// TestSetEnvFails: a worker that does not start with the new variables keeps the old
// ones, also in the record. spec: [C5.22]
func TestSetEnvFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	d := w.start(t)
	failure := svc.Errorf(svc.Unprocessable, "startup_failed", "it throws")
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "restart" {
			return failure
		}
		return nil
	}
	change := svc.EnvChange{Vars: map[string]string{"A": "1"}}
	_, err := d.SetEnv(t.Context(), r, change)
	registrytest.WantError(t, err, svc.Internal, "env_restart_failed")
	failure = svc.Errorf(svc.Unprocessable, "env_shadows_binding", "A is a binding").At("/env/A")
	_, err = d.SetEnv(t.Context(), r, change)
	registrytest.WantError(t, err, svc.Unprocessable, "env_shadows_binding")
	if fields := svc.AsError(err).Fields; len(fields) != 1 || fields[0].Pointer != "/vars/A" {
		t.Errorf("fields %v", fields)
	}
	if v := registrytest.Get(t, w.DB, r); v.Env["TOKEN"] != "hush" || len(v.Env) != 1 || v.Status != svc.StatusReady || d.isHeld(r) {
		t.Errorf("%s with %v, held: %v", v.Status, v.Env, d.isHeld(r))
	}
}

// TestSetEnvErrors: a rejected change has no effect, and reports every variable.
// spec: [C5.10] [C5.12] [C5.14] [C5.16]
func TestSetEnvErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add(t, "v1", registrytest.ToReady()...)
	draining := w.add(t, "v2", append(registrytest.ToReady(), svc.TriggerDrain)...)
	d := w.start(t)
	many := map[string]string{"SVC_A": "1", "runtime_b": "1", "Project_Id": "1", "9": "1", "LONG": string(make([]byte, 8193))}
	for len(many) < 65 {
		many["K"+string(rune('A'+len(many)%26))+string(rune('A'+len(many)/26))] = ""
	}
	_, err := d.SetEnv(t.Context(), r, svc.EnvChange{Vars: many})
	var e *svc.Error
	if !errors.As(err, &e) || e.Kind != svc.Unprocessable {
		t.Fatal(err)
	}
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Pointer+" "+f.Code)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"/vars env_too_many_keys", "/vars/9 env_invalid_key", "/vars/LONG env_value_too_large", "/vars/Project_Id env_platform_key",
		"/vars/SVC_A env_reserved_key", "/vars/runtime_b env_reserved_key",
	}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err = d.SetEnv(t.Context(), draining, svc.EnvChange{})
	registrytest.WantError(t, err, svc.Conflict, "promote_in_progress")
	stale := svc.Errorf(svc.Precondition, "etag_mismatch", "stale")
	_, err = d.SetEnv(t.Context(), r, svc.EnvChange{Match: func(env svc.Environment) error {
		if env.Overrides["TOKEN"] != "hush" {
			t.Errorf("the change is compared with %v", env)
		}
		return stale
	}})
	registrytest.WantError(t, err, svc.Precondition, "etag_mismatch")
	if calls := d.log(); len(calls) > 0 {
		t.Errorf("rejected changes made the calls %v", calls)
	}
}
