package deploy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestRestart: requests wait during a planned restart, and the new process has the new
// overrides. spec: [C5.22]
func TestRestart(t *testing.T) {
	t.Parallel()
	d := newWorld(t).start(t, nil)
	r := d.submit(t, svc.NewVersion{ID: "v1", Env: map[string]string{"A": "old"}})
	d.upload(t, r, hello(t))
	d.run(t, r)
	before := len(d.gateway.log())
	release := d.HoldForRestart(r)
	if err := d.Restart(t.Context(), r, map[string]string{"A": "new"}); err != nil {
		t.Fatal(err)
	}
	if down := d.NotServing(); len(down) > 0 {
		t.Errorf("not serving: %v", down)
	}
	release()
	if got := d.gateway.log()[before:]; !slices.Equal(got, []string{"v1 ready starting", "v1 ready /run/v1.sock"}) {
		t.Errorf("the gateway got %q", got)
	}
	if got := d.runtimes.open[r].Env["A"]; got != "new" || d.gateway.answer(r) != 418 {
		t.Errorf("the process has %q, answer %d", got, d.gateway.answer(r))
	}
}

// TestRestartFails: a start that fails is followed by one with the recorded
// overrides, and no value is in the error. spec: [C5.22]
func TestRestartFails(t *testing.T) {
	t.Parallel()
	d := newWorld(t).start(t, nil)
	r := d.submit(t, svc.NewVersion{ID: "v1", Env: map[string]string{"A": "old-value"}})
	d.upload(t, r, hello(t))
	d.run(t, r)
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "serve" && d.runtimes.open[ref].Env["A"] != "old-value" {
			return svc.Errorf(svc.Unprocessable, "startup_failed", "it throws bad-value over old-value")
		}
		return nil
	}
	before := len(d.runtimes.log())
	release := d.HoldForRestart(r)
	err := d.Restart(t.Context(), r, map[string]string{"A": "bad-value"})
	release()
	if svc.CodeOf(err) != "startup_failed" || strings.Contains(err.Error(), "-value") {
		t.Errorf("err = %v", err)
	}
	if got := d.runtimes.log()[before:]; !slices.Equal(got, []string{"stop v1", "open v1", "serve v1", "stop v1", "open v1", "serve v1"}) {
		t.Errorf("the calls are %q", got)
	}
	if got := d.runtimes.open[r].Env["A"]; got != "old-value" || d.gateway.answer(r) != 418 {
		t.Errorf("the process has %q, answer %d", got, d.gateway.answer(r))
	}
}
