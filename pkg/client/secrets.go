package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Secrets lists the sealed secrets of a project; no values.
//
// Codes: project_not_found.
func (c *Client) Secrets(ctx context.Context, project string) (api.SecretList, error) {
	return ask[api.SecretList](ctx, c, get("/projects/{project}/secrets", project))
}

// PutSecret sets a secret and returns when the versions that use it were restarted. class "" is that of
// releases. Only ctx limits the time.
//
// Codes: project_not_found, secrets_key_missing, secret_class_invalid, secrets_too_many,
// secret_unreadable, secret_restart_failed, promote_in_progress, env_invalid_key, env_reserved_key,
// env_platform_key, env_value_too_large, shutting_down.
func (c *Client) PutSecret(ctx context.Context, project, name, value string, class api.SecretClass) (api.SecretsChanged, error) {
	change := put("/projects/{project}/secrets/{secret}", project, name).json(api.PutSecret{Value: value, Class: or(class)})
	return ask[api.SecretsChanged](ctx, c, change.untimed())
}

// ChangeSecrets sets and deletes several secrets of a class together, as PutSecret does with one. The
// value nil deletes a secret.
//
// Codes: project_not_found, secret_not_found, secrets_key_missing, secret_class_invalid, secrets_too_many,
// secret_unreadable, secret_restart_failed, promote_in_progress, env_invalid_key, env_reserved_key,
// env_platform_key, env_value_too_large, shutting_down.
func (c *Client) ChangeSecrets(ctx context.Context, project string, secrets map[string]*string, class api.SecretClass) (api.SecretsChanged, error) {
	if secrets == nil {
		secrets = map[string]*string{}
	}
	change := patch("/projects/{project}/secrets", project).json(api.ChangeSecrets{Secrets: secrets, Class: or(class)})
	return ask[api.SecretsChanged](ctx, c, change.untimed())
}

// DeleteSecret deletes a secret and restarts the versions that use it, as PutSecret does.
//
// Codes: project_not_found, secret_not_found, secrets_key_missing, secret_class_invalid,
// secret_unreadable, secret_restart_failed, promote_in_progress, shutting_down.
func (c *Client) DeleteSecret(ctx context.Context, project, name string, class api.SecretClass) (api.SecretsChanged, error) {
	change := remove("/projects/{project}/secrets/{secret}", project, name).with(api.DeleteSecretParams{Class: or(class)})
	return ask[api.SecretsChanged](ctx, c, change.untimed())
}

// RollbackSecret sets a secret to the value before its last change, as PutSecret does.
//
// Codes: project_not_found, secret_not_found, secret_no_previous, secrets_key_missing,
// secret_class_invalid, secret_unreadable, secret_restart_failed, promote_in_progress, shutting_down.
func (c *Client) RollbackSecret(ctx context.Context, project, name string, class api.SecretClass) (api.SecretsChanged, error) {
	change := post("/projects/{project}/secrets/{secret}/rollback", project, name).with(api.RollbackSecretParams{Class: or(class)})
	return ask[api.SecretsChanged](ctx, c, change.untimed())
}

// ResealSecrets seals all secrets of the server with its current key.
//
// Codes: secrets_key_missing.
func (c *Client) ResealSecrets(ctx context.Context) (api.Resealed, error) {
	return ask[api.Resealed](ctx, c, post("/admin/secrets/reseal").untimed())
}
