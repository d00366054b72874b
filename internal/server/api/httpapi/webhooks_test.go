package httpapi_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/webhooks"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// newWebhooks is the real service, which sends tests alone and reaches the receivers of tests.
func newWebhooks(t *testing.T, db *registry.DB) *webhooks.Service {
	t.Helper()
	s, err := webhooks.New(webhooks.Deps{Registry: db, Master: []byte("master"), Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWebhooks: a webhook is added, tested, rotated and removed; its secret is in no list, record or log.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	defer receiver.Close()
	h := start(t)
	h.project("shop")
	added := decode[api.WebhookSecret](h.do(request{method: "POST", path: "/v1/webhooks", body: api.CreateWebhook{URL: receiver.URL, Events: []string{"errors"}, ProjectID: "shop"}}).want(201))
	if added.Webhook.Format != "standard" || !strings.HasPrefix(added.Secret, "whsec_") || added.Webhook.CreatedBy == "" {
		t.Errorf("added %+v", added.Webhook)
	}
	base := "/v1/webhooks/" + added.Webhook.ID
	tested := decode[api.WebhookDelivery](h.do(request{method: "POST", path: base + "/test"}).want(200))
	if tested.State != "delivered" || tested.Status != http.StatusAccepted || tested.Attempts != 1 {
		t.Errorf("the test is %+v", tested)
	}
	h.do(request{method: "POST", path: base + "/deliveries/" + tested.ID + "/replay"}).want(200)
	page := decode[api.DeliveryPage](h.do(request{method: "GET", path: base + "/deliveries?limit=1"}).want(200))
	if len(page.Items) != 1 || page.Items[0].ID != tested.ID || page.Items[0].State != "waiting" {
		t.Errorf("the deliveries are %+v", page)
	}
	rotated := decode[api.WebhookSecret](h.do(request{method: "POST", path: base + "/rotate"}).want(200))
	if rotated.Secret == added.Secret || rotated.Webhook.RotatedAt == nil {
		t.Errorf("rotated %+v", rotated.Webhook)
	}
	for project, want := range map[string]int{"": 1, "?project=shop": 1, "?project=bank": 0} {
		list := h.do(request{method: "GET", path: "/v1/webhooks" + project}).want(200)
		if got := decode[api.WebhookList](list); len(got.Items) != want || strings.Contains(string(list.body), "whsec_") {
			t.Errorf("the list%s is %s", project, list.body)
		}
	}
	audit := h.do(request{method: "GET", path: "/v1/audit"}).want(200)
	if text := string(audit.body) + h.log.String(); strings.Contains(text, added.Secret) || !strings.Contains(string(audit.body), "createWebhook") {
		t.Error("a secret is in the audit or the log, or the record is missing")
	}
	h.do(request{method: "DELETE", path: base}).want(204)
	for _, r := range []request{{method: "DELETE", path: base}, {method: "POST", path: base + "/test"}, {method: "POST", path: base + "/rotate"}, {method: "GET", path: base + "/deliveries"}, {method: "POST", path: base + "/deliveries/x/replay"}} {
		h.do(r).wantProblem(404, "webhook_not_found")
	}
}

// TestRefusalsOfWebhooks: what cannot work is refused, and the deploy token reaches none. spec: [C15.2]
func TestRefusalsOfWebhooks(t *testing.T) {
	t.Parallel()
	h := start(t)
	good := api.CreateWebhook{URL: "https://ops.example.com", Events: []string{"all"}}
	bad, elsewhere := good, good
	bad.URL, elsewhere.ProjectID = "gopher://x", "none"
	h.refuse("/v1", []refused{
		{"POST", "/webhooks", bad, nil, 422, "webhook_invalid"},
		{"POST", "/webhooks", elsewhere, nil, 404, "project_not_found"},
	})
	h.do(request{method: "GET", path: "/v1/webhooks", token: deployToken}).wantProblem(403, "forbidden")
	w := svc.Webhook{URL: good.URL, Events: good.Events, Format: svc.WebhookStandard, CreatedAt: time.Now()}
	for i := range svc.MaxWebhooks {
		w.ID = "wh_" + strings.Repeat("x", i+1)
		if err := h.db.AddWebhook(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	h.refuse("/v1", []refused{{"POST", "/webhooks", good, nil, 422, "webhooks_too_many"}, {"POST", "/webhooks/wh_x/deliveries/none/replay", nil, nil, 404, "delivery_not_found"}})
}
