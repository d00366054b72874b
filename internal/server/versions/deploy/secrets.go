package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"sync"

	"github.com/svcctl/svcctl/internal/svc"
)

// secretValues are the secrets of one attempt: those of the registry, read once, or given ones.
type secretValues struct {
	known  bool
	values map[string]string
}

// openSecrets returns the secrets that the version starts with. All steps of an attempt have the same.
func (r *run) openSecrets(ctx context.Context) (map[string]string, error) {
	if r.secrets.known {
		return r.secrets.values, nil
	}
	values, err := r.deps.Secrets.Of(ctx, r.v)
	if err != nil {
		return nil, err
	}
	r.secrets = secretValues{known: true, values: values}
	return values, nil
}

// hidden returns what no text about the version may show.
func (r *run) hidden() map[string]string {
	return svc.RuntimeSpec{Env: r.v.Env, Secrets: r.secrets.values}.Values()
}

// hide returns err without the values of the secrets that the attempt opened. An error that has none of
// them is returned unchanged.
func (r *run) hide(err error) error {
	secrets := r.secrets.values
	if err == nil || len(secrets) == 0 || redact(everything(err), secrets) == everything(err) {
		return err
	}
	known, is := errors.AsType[*svc.Error](err)
	if !is {
		return errors.New(redact(err.Error(), secrets))
	}
	e := *known
	e.Err, e.Detail, e.Hint, e.Output = nil, redact(e.Detail, secrets), redact(e.Hint, secrets), redact(e.Output, secrets)
	return &e
}

// everything is all text of an error.
func everything(err error) string {
	text := err.Error()
	if known, is := errors.AsType[*svc.Error](err); is {
		text += "\n" + known.Detail + "\n" + known.Hint + "\n" + known.Output
	}
	return text
}

// beginnings holds digests of the secrets that processes began with. The zero value is ready.
type beginnings struct {
	mu      sync.Mutex
	digests map[svc.Ref][sha256.Size]byte
}

func digest(secrets map[string]string) [sha256.Size]byte {
	if len(secrets) == 0 {
		secrets = map[string]string{}
	}
	text, _ := json.Marshal(secrets) // strings; the keys are sorted
	return sha256.Sum256(text)
}

func (b *beginnings) note(ref svc.Ref, secrets map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.digests == nil {
		b.digests = map[svc.Ref][sha256.Size]byte{}
	}
	b.digests[ref] = digest(secrets)
}

func (b *beginnings) differs(ref svc.Ref, secrets map[string]string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	began, ok := b.digests[ref]
	return ok && began != digest(secrets)
}

func (b *beginnings) forget(ref svc.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.digests, ref)
}

// SecretsDiffer reports whether the process of a version began with other secrets than it would begin
// with now. It waits for a deploy or a start of the version. A version that sleeps, or has no process,
// has no secrets that differ.
func (s *Service) SecretsDiffer(ctx context.Context, ref svc.Ref) (bool, error) {
	own, end, err := s.locks.Lock(ctx, ref)
	if err != nil {
		return false, err
	}
	defer end()
	v, err := s.deps.Versions.Version(own, ref)
	if err != nil || !v.Status.Serves() {
		return false, err
	}
	if _, asleep := s.routes.asleep(ref); asleep {
		return false, nil
	}
	now, err := s.deps.Secrets.Of(own, v)
	return err == nil && s.began.differs(ref, now), err
}

// RestartWithSecrets is Restart with secrets in place of the recorded ones. The caller records them
// afterwards.
func (s *Service) RestartWithSecrets(ctx context.Context, ref svc.Ref, secrets map[string]string) error {
	return s.restart(ctx, ref, func(r *run) { r.secrets = secretValues{known: true, values: maps.Clone(secrets)} })
}

// renewSecrets starts the worker again if secrets changed while the version was deployed.
func (r *run) renewSecrets(ctx context.Context) {
	now, err := r.deps.Secrets.Of(ctx, r.v)
	if err == nil && !r.began.differs(r.v.Ref, now) {
		return
	}
	r.log.InfoContext(ctx, "secrets changed during the deploy; starting the worker with the new ones")
	defer r.HoldForRestart(r.v.Ref)()
	if err == nil {
		err = r.startAgain(ctx, &run{Service: r.Service, v: r.v, log: r.log})
	}
	if err != nil {
		r.log.ErrorContext(ctx, "start with changed secrets failed; the runtime keeps restarting", "error", redact(err.Error(), r.v.Env))
	}
}
