package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/lifecycle"
	"github.com/svcctl/svcctl/internal/server/versions/preview"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// verbs are the real services of the verbs, without runtimes.
type verbs struct {
	*harness
	lifecycle *lifecycle.Service
	promote   *promote.Service
	left      svc.Unmerged // what every promote would leave behind
	bundles   *objstoretest.Faulty
}

// withVerbs serves the API with the real services. The version "crashed" does not start
// again, and the data of "stuck" cannot be archived.
func withVerbs(t *testing.T, change ...func(*httpapi.Deps)) *verbs {
	t.Helper()
	v := &verbs{bundles: objstoretest.NewFaulty(&memstore.Bucket{}, objstoretest.Faults{Before: 1}, 1)}
	v.bundles.Off.Store(true)
	v.harness = start(t, append(change, func(d *httpapi.Deps) { v.join(t, d) })...)
	t.Cleanup(v.stop)
	return v
}

// stop ends both services, as the end of the daemon does.
func (v *verbs) stop() {
	_ = v.lifecycle.Stop(context.Background())
	_ = v.promote.Stop(context.Background())
}

// Left counts what a promote would leave behind.
func (v *verbs) Left(context.Context, svc.Ref, svc.Ref) svc.Left { return svc.Left{Unmerged: &v.left} }

func (v *verbs) join(t *testing.T, d *httpapi.Deps) {
	t.Helper()
	db, ok := d.Versions.(lifecycleRegistry)
	if !ok {
		t.Fatalf("the registry is a %T", d.Versions)
	}
	log, quiet := slog.New(slog.DiscardHandler), quiet{}
	var err error
	v.lifecycle, err = lifecycle.New(lifecycle.Deps{Versions: db, Inventory: db, Runtimes: quiet, Routes: quiet, Data: quiet, Usage: quiet, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	v.promote, err = promote.New(promote.Deps{
		Projects: db, Versions: db, Promotions: db, Journals: db, Gateway: quiet, Websockets: quiet, Routes: quiet, Runtimes: quiet,
		Bucket: &memstore.Bucket{}, Logger: log, Leftovers: v,
		Releases: db, Deploys: oneMigration{}, Forks: svc.ForkPolicy{PRRefs: []string{"pull/*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	deploys, err := deploy.New(deploy.Deps{
		Versions: db, Inventory: db, Submissions: db, Runtimes: struct{ deploy.Runtimes }{}, Branches: struct{ deploy.Branches }{},
		Gateway: quiet, Production: v.promote, Artifacts: v.bundles, BundleKeys: bundle.Keys,
		Assets: assetstore.New(assetstore.Config{Bucket: v.bundles, Dir: dir}), Ingress: d.Ingress, Logger: log, Notify: func() {},
		Dirs: deploy.Dirs{Cache: dir, Data: dir, Logs: dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Lifecycle, d.Promoter, d.Deployer, d.Bundles = v.lifecycle, v.promote, deploys, deploys
	d.Previews = preview.New(db, noGateway{}, v.lifecycle, log)
}

// lifecycleRegistry is what the services use of the registry.
type lifecycleRegistry interface {
	preview.Records
	lifecycle.Versions
	lifecycle.Inventory
	promote.Projects
	promote.Promotions
	promote.Journals
	promote.Releases
	deploy.Versions
	deploy.Inventory
	deploy.Submissions
}

// oneMigration has a migration in the bundle of each version but v-1.
type oneMigration struct{ promote.Deploys }

func (oneMigration) Migrations(_ context.Context, ref svc.Ref) (map[string]bool, error) {
	if ref.Version == "v-1" {
		return map[string]bool{}, nil
	}
	return map[string]bool{"DB/0001_total.sql": false}, nil
}

// quiet stands for runtimes, gateway and data without work.
type quiet struct{}

func (quiet) Start(context.Context, svc.Ref) error                 { return nil }
func (quiet) SecretsDiffer(context.Context, svc.Ref) (bool, error) { return false, nil }
func (quiet) RestartWithSecrets(context.Context, svc.Ref, map[string]string) error {
	return nil
}
func (quiet) Restart(context.Context, svc.Ref, map[string]string) error { return nil }
func (quiet) Stop(context.Context, svc.Ref) error                       { return nil }
func (quiet) DropBundle(context.Context, svc.Ref) error                 { return nil }
func (quiet) Purge(context.Context, svc.Ref) error                      { return nil }
func (quiet) StatusChanged(svc.Ref, svc.Status)                         {}
func (quiet) HoldUntilReady(svc.Ref) (release func())                   { return func() {} }
func (quiet) HoldForRestart(svc.Ref) (release func())                   { return func() {} }
func (quiet) RemoveRoutes(svc.Ref)                                      {}
func (quiet) DrainVersion(context.Context, svc.Ref) error               { return nil }
func (quiet) Cached(svc.Ref) bool                                       { return false }
func (quiet) Destroy(context.Context, svc.Ref) error                    { return nil }
func (quiet) LastUse(svc.Ref) time.Time                                 { return time.Time{} }
func (quiet) NextWake(context.Context, svc.Ref) (svc.Wake, error)       { return svc.Wake{}, nil }
func (quiet) Waiting(context.Context, svc.Ref) svc.Waiting              { return svc.Waiting{} }
func (quiet) SetVersion(svc.Ref, svc.Upstream)                          {}
func (quiet) RemoveVersion(svc.Ref)                                     {}
func (quiet) SetProduction(string, string)                              {}
func (quiet) Hold(string)                                               {}
func (quiet) Release(string)                                            {}
func (quiet) Unshare(string)                                            {}
func (quiet) Share(string)                                              {}
func (quiet) SettleProduction(context.Context, string) error            { return nil }
func (quiet) LastRequest(svc.Ref) time.Time                             { return time.Time{} }
func (quiet) DrainProduction(context.Context, string) error             { return nil }
func (quiet) CutOver(string) svc.CutOver                                { return svc.CutOver{} }
func (quiet) CloseWebsockets(svc.Ref, svc.Role, time.Duration)          {}

func (quiet) Revive(_ context.Context, ref svc.Ref) error {
	if ref.Version == "crashed" {
		return svc.Errorf(svc.Conflict, svc.CodeVersionNotServing, "version %s does not serve", ref)
	}
	return nil
}

func (quiet) Archive(_ context.Context, ref svc.Ref) error {
	if ref.Version == "stuck" {
		return objstoretest.ErrInjected
	}
	return nil
}

// TestRefusalsOfVerbs: each verb refuses a version in a state that it does not allow.
// spec: [C8.2] [C9.1]
func TestRefusalsOfVerbs(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.project("shop")
	for _, id := range []string{"live", "crashed", "stuck", "draining", "gone", "failed", "starting"} {
		body := api.CreateVersion{ID: id, PreviewName: map[string]string{"live": "first", "draining": "second"}[id]}
		h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body}).want(202)
	}
	for _, id := range []string{"live", "crashed", "stuck", "draining"} {
		h.deploy(svc.Ref{Project: "shop", Version: id})
	}
	if err := h.db.SetProduction(t.Context(), "shop", "", "live"); err != nil {
		t.Fatal(err)
	}
	h.move(svc.Ref{Project: "shop", Version: "draining"}, svc.TriggerDrain)
	h.move(svc.Ref{Project: "shop", Version: "gone"}, svc.TriggerDestroy)
	h.move(svc.Ref{Project: "shop", Version: "failed"}, svc.TriggerFail)
	for _, trigger := range []svc.Trigger{svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare} {
		h.move(svc.Ref{Project: "shop", Version: "starting"}, trigger)
	}
	env := func(vars string) string { return `{"vars":` + vars + `}` }
	h.refuse("/v1/projects/shop", []refused{
		{"POST", "/versions/live/archive", nil, nil, 409, "version_is_production"},
		{"POST", "/versions/draining/archive", nil, nil, 409, "promote_in_progress"},
		{"POST", "/versions/starting/archive", nil, nil, 409, "version_not_ready"},
		{"POST", "/versions/stuck/archive", nil, nil, 503, "archive_incomplete"},
		{"DELETE", "/versions/live", nil, nil, 409, "version_is_production"},
		{"DELETE", "/versions/draining", nil, nil, 409, "promote_in_progress"},
		{"DELETE", "/previews/first", nil, nil, 409, "version_is_production"},
		{"DELETE", "/previews/second", nil, nil, 409, "promote_in_progress"},
		{"DELETE", "/previews/no", nil, nil, 404, "preview_not_found"},
		{"POST", "/versions/starting/wake", nil, nil, 409, "version_not_ready"},
		{"POST", "/versions/crashed/wake", nil, nil, 409, "version_not_serving"},
		{"POST", "/versions/crashed/promote", nil, nil, 409, "version_not_serving"},
		{"POST", "/versions/starting/promote", nil, nil, 409, "version_not_ready"},
		{"POST", "/versions/gone/promote", nil, nil, 410, "version_destroyed"},
		{"PUT", "/versions/no/env", env(`{}`), nil, 404, "version_not_found"},
		{"PUT", "/versions/gone/env", env(`{}`), nil, 410, "version_destroyed"},
		{"PUT", "/versions/failed/env", env(`{}`), nil, 409, "version_failed"},
		{"PUT", "/versions/starting/env", env(`{}`), nil, 409, "version_not_ready"},
		{"PUT", "/versions/draining/env", env(`{}`), nil, 409, "promote_in_progress"},
		{"POST", "/versions/failed/scheduled", nil, nil, 409, "version_failed"},
		{"POST", "/versions/starting/scheduled", nil, nil, 409, "version_not_ready"},
		{"GET", "/versions/gone/bundle", nil, nil, 410, "version_destroyed"},
		{"GET", "/compare?from=gone&to=live", nil, nil, 410, "version_destroyed"},
		{"PATCH", "", `{"preview_parent":"gone"}`, nil, 422, "parent_destroyed"},
	})
	h.refuse("/v1/projects/no", []refused{
		{"DELETE", "/previews/first", nil, nil, 404, "project_not_found"},
		{"POST", "/versions:destroy", `{}`, nil, 404, "project_not_found"},
	})
	h.refuse("/v1/projects/shop", []refused{
		{"POST", "/versions:archive", `{"status":["odd"]}`, nil, 400, "invalid_status"},
		{"POST", "/versions:archive", `{"older_than":"soon"}`, nil, 400, "invalid_parameter"},
	})
}

// TestRefusalsDuringAPromote: a project whose promotion runs accepts no other, and is not
// deleted.
func TestRefusalsDuringAPromote(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.project("shop")
	h.ready("shop", "v-1")
	run := svc.Promotion{ID: "op-1", Project: "shop", Version: "v-1", Status: svc.PromotionRunning, CreatedAt: time.Now()}
	if err := h.db.CreatePromotion(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	h.refuse("/v1/projects/shop", []refused{
		{"POST", "/versions/v-1/promote", nil, nil, 409, "promote_in_progress"},
		{"DELETE", "", nil, nil, 409, "promote_in_progress"},
	})
}

// TestRefusalsOfAStoppingServer: a server that stops begins no verb.
func TestRefusalsOfAStoppingServer(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.project("shop")
	body := api.CreateVersion{ID: "v-1", PreviewName: "first"}
	h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body}).want(202)
	h.deploy(svc.Ref{Project: "shop", Version: "v-1"})
	registrytest.Add(t, h.db, "shop", "asleep", append(registrytest.ToReady(), svc.TriggerArchive)...)
	h.stop()
	h.refuse("/v1/projects/shop", []refused{
		{"POST", "/versions/v-1/archive", nil, nil, 503, "shutting_down"},
		{"POST", "/versions/v-1/promote", nil, nil, 503, "shutting_down"},
		{"POST", "/versions/asleep/wake", nil, nil, 503, "shutting_down"},
		{"PUT", "/versions/v-1/env", `{"vars":{"A":"1"}}`, nil, 503, "shutting_down"},
		{"DELETE", "/versions/v-1", nil, nil, 503, "shutting_down"},
		{"DELETE", "/previews/first", nil, nil, 503, "shutting_down"},
	})
}

// TestRefusalsOfBundles: a bundle that has not arrived, or that the object store does not
// return.
func TestRefusalsOfBundles(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.project("shop")
	h.version("shop", "v-1")
	ask := func(status int, code string) {
		t.Helper()
		h.refuse("/v1/projects/shop", []refused{
			{"GET", "/versions/v-1/bundle", nil, nil, status, code},
			{"GET", "/compare?from=v-1&to=v-1", nil, nil, status, code},
		})
	}
	ask(404, "artifact_missing")
	h.bundles.Off.Store(false)
	ask(503, "artifact_unreadable")
}

// TestHostTooLong: a version whose host name DNS does not allow is refused.
func TestHostTooLong(t *testing.T) {
	t.Parallel()
	domain := strings.Repeat(strings.Repeat("d", 60)+".", 3) + "example"
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: domain, Port: 8787})
	if err != nil {
		t.Fatal(err)
	}
	h := withVerbs(t, func(d *httpapi.Deps) { d.Ingress = ingress })
	h.project("shop")
	body := api.CreateVersion{ID: strings.Repeat("v", 60)}
	h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body}).wantProblem(422, "host_too_long")
}

// TestRefusalsOfVariables: variables of a version and of the previews of a project have
// the same limits, each with its code.
// spec: [C5.9] [C5.10]
func TestRefusalsOfVariables(t *testing.T) {
	t.Parallel()
	h := withVerbs(t)
	h.project("shop")
	h.ready("shop", "v-1")
	many := make([]string, 65)
	for i := range many {
		many[i] = `"K` + strings.Repeat("k", i) + `":""`
	}
	for code, vars := range map[string]string{
		"env_too_many_keys": "{" + strings.Join(many, ",") + "}", "env_invalid_key": `{"1":""}`, "env_reserved_key": `{"SVC_X":""}`,
		"env_platform_key": `{"` + svc.EnvProjectID + `":""}`, "env_value_too_large": `{"A":"` + strings.Repeat("v", 8193) + `"}`,
	} {
		h.refuse("/v1/projects/shop", []refused{
			{"PUT", "/versions/v-1/env", `{"vars":` + vars + `}`, nil, http.StatusUnprocessableEntity, code},
			{"PATCH", "", `{"preview_env":` + vars + `}`, nil, http.StatusUnprocessableEntity, code},
		})
	}
}
