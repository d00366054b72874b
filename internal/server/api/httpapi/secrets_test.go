package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/secrets"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// secretMarker is a value that only requests may hold.
const secretMarker = "sk_live_marker_51H8x"

// newSecrets is the real service without processes. Its key is a new one.
func newSecrets(t *testing.T, db *registry.DB) *secrets.Service {
	return secretsWith(t, db, noProcesses{})
}

func secretsWith(t *testing.T, db *registry.DB, runtimes secrets.Runtimes) *secrets.Service {
	t.Helper()
	line, err := keyring.NewLine("2026-11")
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	s, err := secrets.New(secrets.Deps{Registry: db, Runtimes: func() secrets.Runtimes { return runtimes }, Forks: svc.ForkPolicy{PRRefs: []string{"pull/*"}}, Keys: ring, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noProcesses restarts each version without a wait, but one whose start fails.
type noProcesses struct{}

func (noProcesses) TrySecrets(_ context.Context, ref svc.Ref, values map[string]string) error {
	if values["BREAK"] != "" {
		return svc.Errorf(svc.Unprocessable, svc.CodeStartupFailed, "version %s throws at its start", ref)
	}
	return nil
}

func (noProcesses) RefreshSecrets(context.Context, svc.Ref) (bool, error) { return true, nil }

// TestSecrets: secrets are set, listed without values, rolled back and deleted; neither an answer nor the
// audit record nor the log has a value.
func TestSecrets(t *testing.T) {
	t.Parallel()
	h := start(t)
	registrytest.AddProject(t, h.db, "shop")
	v := registrytest.Add(t, h.db, "shop", "v1", registrytest.ToReady()...)
	if err := h.db.SetProduction(t.Context(), "shop", "", v.Version); err != nil {
		t.Fatal(err)
	}
	const path = "/v1/projects/shop/secrets"
	class := api.SecretClassPreview
	var seen strings.Builder
	ask := func(method, at string, body any, status int) reply {
		t.Helper()
		r := h.do(request{method: method, path: at, body: body})
		seen.Write(r.body)
		return r.want(status)
	}
	ask("PUT", path+"/STRIPE_KEY", api.PutSecret{Value: secretMarker}, 200)
	ask("PUT", path+"/STRIPE_KEY", api.PutSecret{Value: secretMarker + "2"}, 200)
	ask("PUT", path+"/STRIPE_KEY", api.PutSecret{Value: secretMarker + "3", Class: &class}, 200)
	one, none := secretMarker+"4", (*string)(nil)
	done := decode[api.SecretsChanged](ask("PATCH", path, api.ChangeSecrets{Secrets: map[string]*string{"MAIL_KEY": &one}}, 200))
	if len(done.Items) != 3 || len(done.Restarted) != 1 || done.Restarted[0] != "v1" || len(done.Failed) != 0 {
		t.Errorf("the change is %+v", done)
	}
	ask("POST", path+"/STRIPE_KEY/rollback", nil, 200)
	ask("POST", path+"/STRIPE_KEY/rollback?class=preview", nil, 409)
	ask("DELETE", path+"/STRIPE_KEY?class=preview", nil, 200)
	ask("DELETE", path+"/STRIPE_KEY?class=preview", nil, 404)
	ask("PATCH", path, api.ChangeSecrets{Secrets: map[string]*string{"MAIL_KEY": none}}, 200)
	ask("PUT", path+"/BREAK", api.PutSecret{Value: secretMarker}, 500)
	ask("PUT", path+"/SVC_A", api.PutSecret{Value: secretMarker}, 422)
	ask("POST", "/v1/admin/secrets/reseal", nil, 200)
	list := decode[api.SecretList](ask("GET", path, nil, 200))
	if len(list.Items) != 1 || list.Items[0].Name != "STRIPE_KEY" || list.Items[0].UpdatedBy == "" || !list.Items[0].HasPrevious || list.SealingKey != "2026-11" || len(list.PreviewRefs) != 1 {
		t.Errorf("the list is %+v", list)
	}
	audit := ask("GET", "/v1/audit?limit=100", nil, 200)
	if !strings.Contains(string(audit.body), `"put":["STRIPE_KEY"]`) || !strings.Contains(string(audit.body), `"rolled_back":"STRIPE_KEY"`) {
		t.Errorf("the audit is %s", string(audit.body))
	}
	if strings.Contains(seen.String(), secretMarker) || strings.Contains(h.log.String(), secretMarker) {
		t.Error("a value is in an answer or in the log")
	}
}

// TestSecretsRights: the deploy token reaches no secret, and a server without a key keeps none.
// spec: [C5.3] [C15.2]
func TestSecretsRights(t *testing.T) {
	t.Parallel()
	h := start(t)
	bare, err := secrets.New(secrets.Deps{Registry: h.db, Runtimes: func() secrets.Runtimes { return noProcesses{} }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h.server.Secrets = bare
	registrytest.AddProject(t, h.db, "shop")
	for _, r := range []request{{method: "GET", path: "/v1/projects/shop/secrets"}, {method: "PUT", path: "/v1/projects/shop/secrets/A", body: api.PutSecret{Value: "x"}}} {
		r.token = deployToken
		if got := h.do(r); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s with the deploy token: %d", r.method, r.path, got.StatusCode)
		}
	}
	for _, r := range []request{
		{method: "PUT", path: "/v1/projects/shop/secrets/A", body: api.PutSecret{Value: "x"}},
		{method: "DELETE", path: "/v1/projects/shop/secrets/A"},
		{method: "PATCH", path: "/v1/projects/shop/secrets", body: `{"secrets":{"A":"x"}}`},
		{method: "POST", path: "/v1/projects/shop/secrets/A/rollback"},
		{method: "POST", path: "/v1/admin/secrets/reseal"},
	} {
		if got := h.do(r); got.StatusCode != http.StatusConflict || !strings.Contains(string(got.body), svc.CodeSecretsKeyMissing) {
			t.Errorf("%s %s without a key: %d %s", r.method, r.path, got.StatusCode, string(got.body))
		}
	}
	if list := decode[api.SecretList](h.do(request{method: "GET", path: "/v1/projects/shop/secrets"})); list.SealingKey != "" || len(list.Items) != 0 {
		t.Errorf("the list is %+v", list)
	}
	if got := h.do(request{method: "GET", path: "/v1/projects/none/secrets"}); got.StatusCode != http.StatusNotFound {
		t.Errorf("no project: %d", got.StatusCode)
	}
}

// someProcesses start with secrets unless broken is set.
type someProcesses struct {
	noProcesses

	broken bool // between two requests
}

func (p *someProcesses) TrySecrets(_ context.Context, ref svc.Ref, _ map[string]string) error {
	if p.broken {
		return svc.Errorf(svc.Unprocessable, svc.CodeStartupFailed, "version %s throws at its start", ref)
	}
	return nil
}

// secretChanges are a request for each operation, with its code and its status.
func secretChanges(name, code string, status int) []refused {
	return []refused{
		{"PUT", "/" + name, api.PutSecret{Value: "another"}, nil, status, code},
		{"PATCH", "", `{"secrets":{"` + name + `":"another"}}`, nil, status, code},
		{"DELETE", "/" + name, nil, nil, status, code},
		{"POST", "/" + name + "/rollback", nil, nil, status, code},
	}
}

// TestRefusalsOfSecrets: each operation refuses what it cannot do, with its code, and changes nothing.
func TestRefusalsOfSecrets(t *testing.T) {
	t.Parallel()
	processes := &someProcesses{}
	h := start(t)
	service := secretsWith(t, h.db, processes)
	h.server.Secrets = service
	const base = "/v1/projects/shop/secrets"
	h.project("shop")
	h.ready("shop", "v1")
	if err := h.db.SetProduction(t.Context(), "shop", "", "v1"); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"one", "two"} {
		h.do(request{method: "PUT", path: base + "/KEY", body: api.PutSecret{Value: value}}).want(200)
	}
	h.refuse("/v1/projects/none/secrets", secretChanges("KEY", "project_not_found", 404))
	h.refuse(base, []refused{
		{"PUT", "/KEY", `{"value":"x","class":"all"}`, nil, 422, "secret_class_invalid"},
		{"PATCH", "", `{"secrets":{"KEY":"x"},"class":"all"}`, nil, 422, "secret_class_invalid"},
		{"DELETE", "/KEY?class=all", nil, nil, 422, "secret_class_invalid"},
		{"POST", "/KEY/rollback?class=all", nil, nil, 422, "secret_class_invalid"},
		{"PATCH", "", `{"secrets":{"NONE":null}}`, nil, 404, "secret_not_found"},
		{"DELETE", "/NONE", nil, nil, 404, "secret_not_found"},
		{"POST", "/NONE/rollback", nil, nil, 404, "secret_not_found"},
	})
	long := strings.Repeat("x", svc.MaxEnvValueSize+1)
	for name, code := range map[string]string{"9": "env_invalid_key", "SVC_A": "env_reserved_key", "PROJECT_ID": "env_platform_key", "LONG": "env_value_too_large"} {
		h.refuse(base, []refused{{"PUT", "/" + name, api.PutSecret{Value: long}, nil, 422, code}, {"PATCH", "", `{"secrets":{"` + name + `":"` + long + `"}}`, nil, 422, code}})
	}
	processes.broken = true
	h.refuse(base, secretChanges("KEY", "secret_restart_failed", 500))
	processes.broken = false
	op := svc.Promotion{ID: "op-1", Project: "shop", Version: "v1", Status: svc.PromotionRunning, CreatedAt: time.Now()}
	if err := h.db.CreatePromotion(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	h.refuse(base, secretChanges("KEY", "promote_in_progress", 409))
	if err := h.db.FinishPromotion(t.Context(), op.ID, svc.PromotionOutcome{Status: svc.PromotionFailed}); err != nil {
		t.Fatal(err)
	}
	h.write("v1", svc.SecretPreview, svc.MaxSecrets-1)
	h.refuse(base, []refused{
		{"PUT", "/MORE", api.PutSecret{Value: "x"}, nil, 422, "secrets_too_many"}, {"PATCH", "", `{"secrets":{"MORE":"x"}}`, nil, 422, "secrets_too_many"},
	})
	h.write("v1", svc.SecretRelease, 1)
	h.refuse(base, secretChanges("KEY", "secret_unreadable", 503))
	if err := service.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.refuse(base, secretChanges("KEY", "shutting_down", 503))
	if list := decode[api.SecretList](h.do(request{method: "GET", path: base})); list.Items[0].Name != "KEY" || !list.Items[0].HasPrevious {
		t.Errorf("the list is %+v", list.Items[0])
	}
}

// write replaces the secrets of a class but KEY by n that another key sealed.
func (h *harness) write(production string, class svc.SecretClass, n int) {
	h.t.Helper()
	all, err := h.db.Secrets(h.t.Context(), "shop")
	if err != nil {
		h.t.Fatal(err)
	}
	w := svc.SecretWrite{Project: "shop", Production: production}
	for _, s := range all {
		if s.Name != "KEY" {
			w.Delete = append(w.Delete, s.SecretName)
		}
	}
	if _, err = h.db.WriteSecrets(h.t.Context(), w); err == nil {
		w.Delete = nil
		for i := range n {
			w.Put = append(w.Put, svc.SealedSecret{SecretName: svc.SecretName{Project: "shop", Name: fmt.Sprintf("LOST%d", i), Class: class}, Value: svc.SealedValue{KeyID: "gone", Bytes: []byte("x")}, UpdatedAt: time.Now()})
		}
		_, err = h.db.WriteSecrets(h.t.Context(), w)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}
