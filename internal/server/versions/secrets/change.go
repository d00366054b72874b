package secrets

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/svc"
)

var errStopping = svc.Errorf(svc.Unavailable, svc.CodeShuttingDown, "the daemon is shutting down").WithHint("try again in a moment")

// Change sets and deletes secrets of one class. Production is restarted with the new values first; if it
// does not start, nothing changes. Then the other versions that use a changed name are restarted. The
// change continues when ctx ends.
//
// Errors: Conflict, secrets_key_missing or promote_in_progress; NotFound, project_not_found or
// secret_not_found; Unprocessable, a field, or secrets_too_many; Unavailable, secret_unreadable; Internal,
// secret_restart_failed.
func (s *Service) Change(ctx context.Context, project string, c svc.SecretChange) (svc.SecretsChanged, error) {
	ring, err := s.keys()
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return svc.SecretsChanged{}, err
	}
	own, end, err := s.begin(ctx, project)
	if err != nil {
		return svc.SecretsChanged{}, err
	}
	defer end()
	return s.change(own, ring, project, c)
}

// Rollback puts the value that a secret had before its last change, and keeps the present one as that
// before it. Errors: those of Change; Conflict, secret_no_previous.
func (s *Service) Rollback(ctx context.Context, n svc.SecretName, by string) (svc.SecretsChanged, error) {
	ring, err := s.keys()
	if err == nil {
		err = svc.Invalid(svc.CheckSecretClass(n.Class))
	}
	if err != nil {
		return svc.SecretsChanged{}, err
	}
	own, end, err := s.begin(ctx, n.Project)
	if err != nil {
		return svc.SecretsChanged{}, err
	}
	defer end()
	rows, err := s.List(own, n.Project)
	if err != nil {
		return svc.SecretsChanged{}, err
	}
	row, ok := find(rows, n)
	switch {
	case !ok:
		return svc.SecretsChanged{}, notFound(n)
	case row.Before.KeyID == "":
		return svc.SecretsChanged{}, svc.Errorf(svc.Conflict, svc.CodeSecretNoBefore, "the secret %s of project %s has no earlier value", n.Name, n.Project).
			WithHint("put a value: svcctl secret put %s", n.Name)
	}
	before, err := s.open(n, row.Before)
	if err != nil {
		return svc.SecretsChanged{}, err
	}
	return s.change(own, ring, n.Project, svc.SecretChange{Class: n.Class, Put: map[string]string{n.Name: before}, By: by})
}

// begin takes the lock of a project. The context of the change does not end with ctx.
func (s *Service) begin(ctx context.Context, project string) (own context.Context, end func(), err error) {
	own, done, err := s.work.Begin(ctx)
	if err != nil {
		return nil, nil, errStopping
	}
	_, unlock, err := s.locks.Lock(ctx, project)
	if err != nil {
		done()
		return nil, nil, err
	}
	return own, func() { unlock(); done() }, nil
}

func (s *Service) change(ctx context.Context, ring *keyring.Ring, project string, c svc.SecretChange) (done svc.SecretsChanged, err error) {
	p, err := s.deps.Registry.Project(ctx, project)
	if err != nil {
		return done, err
	}
	rows, err := s.deps.Registry.Secrets(ctx, project)
	if err != nil {
		return done, err
	}
	values, err := s.openOther(rows, c)
	if err != nil {
		return done, err
	}
	w, changed, err := s.write(ring, p, rows, values, c)
	if err != nil {
		return done, err
	}
	if len(changed) == 0 { // a repeat: the first may not have reached all versions
		done.Secrets = rows
		err = s.spread(ctx, svc.Ref{Project: project}, c.Class, slices.Collect(maps.Keys(c.Put)), &done)
		return done, err
	}
	prod := svc.Ref{Project: project, Version: p.ProdVersionID}
	tried, err := s.try(ctx, prod, c.Class, values, changed)
	if err != nil {
		return done, err
	}
	failpoint.Hit("secrets/tried")
	if done.Secrets, err = s.deps.Registry.WriteSecrets(ctx, w); err != nil {
		s.untry(ctx, prod, tried)
		return done, err
	}
	failpoint.Hit("secrets/recorded")
	if tried {
		done.Restarted = append(done.Restarted, prod.Version)
	}
	s.deps.Logger.InfoContext(ctx, "secrets of a project changed", "project", project, "class", string(c.Class), "put", len(w.Put), "deleted", len(w.Delete))
	err = s.spread(ctx, prod, c.Class, changed, &done)
	return done, err
}

// openOther returns the values of the class, without those that are put or deleted: a value that no key
// opens any more can be replaced.
func (s *Service) openOther(rows []svc.SealedSecret, c svc.SecretChange) (map[string]string, error) {
	return s.openAll(slices.DeleteFunc(slices.Clone(rows), func(r svc.SealedSecret) bool {
		_, put := c.Put[r.Name]
		return put || slices.Contains(c.Delete, r.Name)
	}), c.Class)
}

// write returns what a change stores, and the names whose values differ then. It adds the new values to
// values.
func (s *Service) write(ring *keyring.Ring, p svc.Project, rows []svc.SealedSecret, values map[string]string, c svc.SecretChange) (w svc.SecretWrite, changed []string, err error) {
	w = svc.SecretWrite{Project: p.ID, Production: p.ProdVersionID}
	now := time.Now()
	for _, name := range slices.Sorted(maps.Keys(c.Put)) {
		n := svc.SecretName{Project: p.ID, Name: name, Class: c.Class}
		row, exists := find(rows, n)
		values[name] = c.Put[name]
		if exists {
			if present, err := s.open(n, row.Value); err == nil && present == c.Put[name] {
				continue
			}
		}
		next := svc.SealedSecret{SecretName: n, Before: row.Value, UpdatedAt: now, UpdatedBy: c.By}
		if next.Value, err = seal(ring, n, c.Put[name]); err != nil {
			return w, nil, err
		}
		w.Put, changed = append(w.Put, next), append(changed, name)
	}
	for _, name := range c.Delete {
		n := svc.SecretName{Project: p.ID, Name: name, Class: c.Class}
		if _, exists := find(rows, n); !exists {
			return w, nil, notFound(n)
		}
		w.Delete, changed = append(w.Delete, n), append(changed, name)
	}
	return w, changed, nil
}

func find(rows []svc.SealedSecret, n svc.SecretName) (svc.SealedSecret, bool) {
	for _, r := range rows {
		if r.SecretName == n {
			return r, true
		}
	}
	return svc.SealedSecret{}, false
}

func notFound(n svc.SecretName) error {
	return svc.Errorf(svc.NotFound, svc.CodeSecretNotFound, "project %s has no secret %s of the class %s", n.Project, n.Name, n.Class).
		WithHint("list the secrets: svcctl secret list")
}
