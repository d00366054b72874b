package lifecycle_test

import (
	"context"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSecretsRestart: a version is restarted with other secrets while its requests wait, once, and not at
// all if it does not serve.
func TestSecretsRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready, archived := w.add(t, "v1", registrytest.ToReady()...), w.add(t, "v2", append(registrytest.ToReady(), svc.TriggerArchive)...)
	tried := w.add(t, "v3", registrytest.ToReady()...)
	d := w.start(t)
	for _, want := range []bool{true, false} {
		if restarted, err := d.RefreshSecrets(t.Context(), ready); restarted != want || err != nil || d.isHeld(ready) {
			t.Errorf("restarted %v, %v, held %v; want %v", restarted, err, d.isHeld(ready), want)
		}
	}
	if restarted, err := d.RefreshSecrets(t.Context(), archived); restarted || err != nil {
		t.Errorf("an archived version: %v, %v", restarted, err)
	}
	if err := d.TrySecrets(t.Context(), tried, map[string]string{"KEY": "x"}); err != nil || d.env[tried]["KEY"] != "x" || d.isHeld(tried) {
		t.Errorf("%v, the process has %v, held %v", err, d.env[tried], d.isHeld(tried))
	}
	if got := d.log(); !slices.Equal(got, []string{"drain v1", "restart v1", "drain v3", "restart v3"}) {
		t.Errorf("the calls are %v", got)
	}
}

// TestSecretsRestartErrors: a version that is draining is left alone, and the error of a start is returned.
func TestSecretsRestartErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draining := w.add(t, "v1", append(registrytest.ToReady(), svc.TriggerDrain)...)
	ready := w.add(t, "v2", registrytest.ToReady()...)
	d := w.start(t)
	d.before = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "restart" {
			return svc.Errorf(svc.Unprocessable, "startup_failed", "it throws")
		}
		return nil
	}
	_, err := d.RefreshSecrets(t.Context(), draining)
	registrytest.WantError(t, err, svc.Conflict, "promote_in_progress")
	restarted, err := d.RefreshSecrets(t.Context(), ready)
	registrytest.WantError(t, err, svc.Unprocessable, "startup_failed")
	if restarted || d.isHeld(ready) {
		t.Errorf("restarted %v, held %v", restarted, d.isHeld(ready))
	}
	registrytest.WantError(t, d.TrySecrets(t.Context(), ready, nil), svc.Unprocessable, "startup_failed")
}
