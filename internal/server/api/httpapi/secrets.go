package httpapi

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// secretsRoute is the route of the secrets of a project.
const secretsRoute = "/v1/projects/{project}/secrets" //nolint:gosec // no credential

// Secrets keeps the sealed secrets of projects. No method returns a value.
type Secrets interface {
	SealingKey() string
	PullRequests() []string
	List(ctx context.Context, project string) ([]svc.SealedSecret, error)
	Change(ctx context.Context, project string, c svc.SecretChange) (svc.SecretsChanged, error)
	Rollback(ctx context.Context, n svc.SecretName, by string) (svc.SecretsChanged, error)
	Reseal(ctx context.Context) (svc.Resealed, error)
}

// ListSecrets answers GET /projects/{project}/secrets.
func (h handlers) ListSecrets(ctx context.Context, r oas.ListSecretsRequestObject) (oas.ListSecretsResponseObject, error) {
	all, err := h.Secrets.List(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	return oas.ListSecrets200JSONResponse{Items: each(all, secretOut), SealingKey: h.Secrets.SealingKey(), PreviewRefs: append([]string{}, h.Secrets.PullRequests()...)}, nil
}

// PutSecret answers PUT /projects/{project}/secrets/{secret}.
func (h handlers) PutSecret(ctx context.Context, r oas.PutSecretRequestObject) (oas.PutSecretResponseObject, error) {
	done, err := h.changeSecrets(ctx, r.Project, svc.SecretChange{Class: classOf(r.Body.Class), Put: map[string]string{r.Secret: r.Body.Value}})
	if err != nil {
		return nil, err
	}
	return oas.PutSecret200JSONResponse{SecretsChangedJSONResponse: oas.SecretsChangedJSONResponse(done)}, nil
}

// DeleteSecret answers DELETE /projects/{project}/secrets/{secret}.
func (h handlers) DeleteSecret(ctx context.Context, r oas.DeleteSecretRequestObject) (oas.DeleteSecretResponseObject, error) {
	done, err := h.changeSecrets(ctx, r.Project, svc.SecretChange{Class: classOf(r.Params.Class), Delete: []string{r.Secret}})
	if err != nil {
		return nil, err
	}
	return oas.DeleteSecret200JSONResponse{SecretsChangedJSONResponse: oas.SecretsChangedJSONResponse(done)}, nil
}

// ChangeSecrets answers PATCH /projects/{project}/secrets.
func (h handlers) ChangeSecrets(ctx context.Context, r oas.ChangeSecretsRequestObject) (oas.ChangeSecretsResponseObject, error) {
	c := svc.SecretChange{Class: classOf(r.Body.Class), Put: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(r.Body.Secrets)) {
		if value := r.Body.Secrets[name]; value != nil {
			c.Put[name] = *value
		} else {
			c.Delete = append(c.Delete, name)
		}
	}
	done, err := h.changeSecrets(ctx, r.Project, c)
	if err != nil {
		return nil, err
	}
	return oas.ChangeSecrets200JSONResponse{SecretsChangedJSONResponse: oas.SecretsChangedJSONResponse(done)}, nil
}

// changeSecrets makes a change. The audit record gets its names and no value.
func (h handlers) changeSecrets(ctx context.Context, project string, c svc.SecretChange) (api.SecretsChanged, error) {
	x := exchangeOf(ctx)
	c.By = cmp.Or(x.changes.by, x.actor.Token)
	x.changes.after = map[string]any{"class": string(c.Class), "put": slices.Sorted(maps.Keys(c.Put)), "deleted": append([]string{}, c.Delete...)}
	done, err := h.Secrets.Change(ctx, project, c)
	return secretsChangedOut(done), err
}

// RollbackSecret answers POST /projects/{project}/secrets/{secret}/rollback.
func (h handlers) RollbackSecret(ctx context.Context, r oas.RollbackSecretRequestObject) (oas.RollbackSecretResponseObject, error) {
	x := exchangeOf(ctx)
	n := svc.SecretName{Project: r.Project, Name: r.Secret, Class: classOf(r.Params.Class)}
	x.changes.after = map[string]any{"class": string(n.Class), "rolled_back": n.Name}
	done, err := h.Secrets.Rollback(ctx, n, cmp.Or(x.changes.by, x.actor.Token))
	if err != nil {
		return nil, err
	}
	return oas.RollbackSecret200JSONResponse{SecretsChangedJSONResponse: oas.SecretsChangedJSONResponse(secretsChangedOut(done))}, nil
}

// ResealSecrets answers POST /admin/secrets/reseal.
func (h handlers) ResealSecrets(ctx context.Context, _ oas.ResealSecretsRequestObject) (oas.ResealSecretsResponseObject, error) {
	done, err := h.Secrets.Reseal(ctx)
	if err != nil {
		return nil, err
	}
	return oas.ResealSecrets200JSONResponse{
		SealingKey: done.Key, Resealed: done.Resealed,
		Unreadable: each(done.Unreadable, func(n svc.SecretName) api.SecretPlace {
			return api.SecretPlace{ProjectID: n.Project, Name: n.Name, Class: api.SecretClass(n.Class)}
		}),
	}, nil
}

// classOf is the class that a request names; that of releases by default.
func classOf(c *api.SecretClass) svc.SecretClass {
	if c == nil {
		return svc.SecretRelease
	}
	return svc.SecretClass(*c)
}

func secretOut(s svc.SealedSecret) api.Secret {
	return api.Secret{
		Name: s.Name, Class: api.SecretClass(s.Class), KeyID: s.Value.KeyID, HasPrevious: s.Before.KeyID != "",
		UpdatedAt: api.Time{Time: s.UpdatedAt}, UpdatedBy: s.UpdatedBy,
	}
}

func secretsChangedOut(done svc.SecretsChanged) api.SecretsChanged {
	return api.SecretsChanged{
		Items: each(done.Secrets, secretOut), Restarted: append([]string{}, done.Restarted...),
		Failed: each(done.Failed, func(f svc.SecretNotTaken) api.SecretNotTaken {
			return api.SecretNotTaken{VersionID: f.Version, Error: f.Reason}
		}),
	}
}
