package client

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Env is the environment of a version: each variable that its worker sees, with the
// source of its value. ETag names this state of it.
type Env struct {
	Items []api.EnvEntry
	ETag  string
}

// Overrides are the variables that [Client.SetEnv] replaces.
func (e Env) Overrides() map[string]string {
	vars := map[string]string{}
	for _, v := range e.Items {
		if v.Source == api.EnvSourceOverride {
			vars[v.Key] = v.Value
		}
	}
	return vars
}

// Env returns the environment of a version, with its values.
//
// Codes: version_not_found, version_destroyed.
func (c *Client) Env(ctx context.Context, project, version string) (Env, error) {
	resp, err := c.do(ctx, get(ofVersion+"/env", project, version))
	return readEnv(resp, err)
}

// SetEnv replaces all overrides of a version by vars. A ready version is restarted, and
// SetEnv returns when it serves; if its worker does not start, the old overrides stay
// (env_restart_failed). With an etag, the change is rejected if the environment is
// another one (etag_mismatch); "" sets no condition. Only ctx limits the time.
//
// Codes: version_not_found, version_destroyed, version_not_ready, version_failed,
// promote_in_progress, env_too_many_keys, env_invalid_key, env_reserved_key,
// env_platform_key, env_value_too_large, env_restart_failed, etag_mismatch,
// shutting_down.
func (c *Client) SetEnv(ctx context.Context, project, version string, vars map[string]string, etag string) (Env, error) {
	if vars == nil {
		vars = map[string]string{}
	}
	change := put(ofVersion+"/env", project, version).with(api.SetEnvParams{IfMatch: or(etag)}).json(api.SetEnv{Vars: vars})
	resp, err := c.do(ctx, change.untimed())
	return readEnv(resp, err)
}

func readEnv(resp *http.Response, err error) (Env, error) {
	etag := ""
	if resp != nil {
		etag = resp.Header.Get("ETag")
	}
	list, err := as[api.EnvList](read(resp, err))
	return Env{list.Items, etag}, err
}
