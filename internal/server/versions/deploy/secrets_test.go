package deploy_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// secretsOf are the secrets of all versions.
type secretsOf struct {
	mu     sync.Mutex
	values map[string]string
	err    error
}

func (s *secretsOf) Of(context.Context, svc.Version) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values), s.err
}

func (s *secretsOf) set(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = map[string]string{"KEY": value}
}

// startWithSecrets serves v1 with a secret.
func startWithSecrets(t *testing.T) (*daemon, *secretsOf, svc.Ref) {
	t.Helper()
	of := &secretsOf{values: map[string]string{"KEY": "first-value"}}
	d := newWorld(t).start(t, func(deps *deploy.Deps) { deps.Secrets = of })
	r := d.submit(t, svc.NewVersion{ID: "v1"})
	d.upload(t, r, hello(t))
	if v := d.run(t, r); v.Status != svc.StatusReady {
		t.Fatal(v.Error)
	}
	return d, of, r
}

func (d *daemon) differs(t *testing.T, r svc.Ref) bool {
	t.Helper()
	differs, err := d.SecretsDiffer(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return differs
}

// TestSecretsAtStart: each start has the present secrets, and the service knows which process has others.
func TestSecretsAtStart(t *testing.T) {
	t.Parallel()
	d, of, r := startWithSecrets(t)
	if got := d.runtimes.open[r].Secrets["KEY"]; got != "first-value" || d.differs(t, r) {
		t.Errorf("the process has %q, differs %v", got, d.differs(t, r))
	}
	of.set("second-value")
	if !d.differs(t, r) {
		t.Error("the process has the secrets of before, and the service does not know")
	}
	if err := d.Restart(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if got := d.runtimes.open[r].Secrets["KEY"]; got != "second-value" || d.differs(t, r) {
		t.Errorf("the process has %q", got)
	}
	if err := d.RestartWithSecrets(t.Context(), r, map[string]string{"KEY": "third-value"}); err != nil {
		t.Fatal(err)
	}
	if got := d.runtimes.open[r].Secrets["KEY"]; got != "third-value" || !d.differs(t, r) {
		t.Errorf("the process has %q and differs from the record: %v", got, d.differs(t, r))
	}
}

// TestSecretsThatBreak: a version that does not start with secrets starts with the recorded ones, and no
// value is in the error.
func TestSecretsThatBreak(t *testing.T) {
	t.Parallel()
	d, _, r := startWithSecrets(t)
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "serve" && d.runtimes.open[ref].Secrets["KEY"] != "first-value" {
			return svc.Errorf(svc.Unprocessable, "startup_failed", "it throws broken-value")
		}
		return nil
	}
	err := d.RestartWithSecrets(t.Context(), r, map[string]string{"KEY": "broken-value"})
	if svc.CodeOf(err) != "startup_failed" || strings.Contains(err.Error(), "-value") {
		t.Errorf("err = %v", err)
	}
	if got := d.runtimes.open[r].Secrets["KEY"]; got != "first-value" || d.gateway.answer(r) != 418 {
		t.Errorf("the process has %q, answer %d", got, d.gateway.answer(r))
	}
}

// TestSecretsUnreadable: a deploy fails with the error of a secret that does not open, and a version that
// serves is not stopped for a restart that could not end.
func TestSecretsUnreadable(t *testing.T) {
	t.Parallel()
	d, of, r := startWithSecrets(t)
	of.err = svc.Errorf(svc.Unavailable, svc.CodeSecretUnreadable, "the secret KEY is sealed with the key old")
	before := len(d.runtimes.log())
	registrytest.WantError(t, d.Restart(t.Context(), r, nil), svc.Unavailable, svc.CodeSecretUnreadable)
	if got := d.runtimes.log()[before:]; len(got) > 0 || d.gateway.answer(r) != 418 {
		t.Errorf("calls %q, answer %d", got, d.gateway.answer(r))
	}
	next := d.submit(t, svc.NewVersion{ID: "v2"})
	d.upload(t, next, hello(t))
	if v := d.run(t, next); v.Status != svc.StatusFailed || !strings.Contains(v.Error, svc.CodeSecretUnreadable) {
		t.Errorf("%s: %s", v.Status, v.Error)
	}
}

// TestSecretsDuringDeploy: secrets that change while a version is deployed reach it before the deploy ends.
func TestSecretsDuringDeploy(t *testing.T) {
	t.Parallel()
	d, of, _ := startWithSecrets(t)
	next := d.submit(t, svc.NewVersion{ID: "v2"})
	d.upload(t, next, hello(t))
	d.runtimes.hook = func(_ context.Context, call string, ref svc.Ref) error {
		if call == "serve" && ref == next {
			of.set("second-value")
		}
		return nil
	}
	d.run(t, next)
	if got := d.runtimes.open[next].Secrets["KEY"]; got != "second-value" || d.differs(t, next) || d.gateway.answer(next) != 418 {
		t.Errorf("the process has %q", got)
	}
	if calls := d.runtimes.log(); !slices.Contains(calls, "stop v2") {
		t.Errorf("calls %q", calls)
	}
}
