package webhooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/webhooks"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// receiver records what it gets and answers with a status.
type receiver struct {
	*httptest.Server

	mu     sync.Mutex
	status int
	got    []string // types and ids
	bodies []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: 200}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		var m struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(body, &m)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got, r.bodies = append(r.got, m.Type+" "+req.Header.Get("Webhook-Id")), append(r.bodies, string(body))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) types() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.got {
		kind, _, _ := strings.Cut(g, " ")
		list = append(list, kind)
	}
	return list
}

func start(t *testing.T, db *registry.DB, schedule ...time.Duration) *webhooks.Service {
	t.Helper()
	s, err := webhooks.New(webhooks.Deps{
		Registry: db, Master: []byte("master"), Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Schedule: schedule, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

func add(t *testing.T, s *webhooks.Service, w svc.Webhook) svc.Webhook {
	t.Helper()
	if w.Format == "" {
		w.Format = svc.WebhookStandard
	}
	added, secret, err := s.Add(t.Context(), w)
	if err != nil || !strings.HasPrefix(secret, "whsec_") {
		t.Fatal(secret, err)
	}
	return added
}

func deliveries(t *testing.T, s *webhooks.Service, id string) []svc.WebhookDelivery {
	t.Helper()
	page, err := s.Deliveries(t.Context(), id, svc.PageRequest{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func eventually(t *testing.T, r *receiver, want ...string) {
	t.Helper()
	svctest.Eventually(t, "the receiver has "+strings.Join(want, ", "), func() bool { return strings.Join(r.types(), " ") == strings.Join(want, " ") })
}

// TestEvents: a webhook gets what it wants of its project from its creation on, once each.
func TestEvents(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop", "bank")
	registrytest.Add(t, db, "shop", "before", registrytest.ToReady()...)
	s, all, own := start(t, db), newReceiver(t), newReceiver(t)
	add(t, s, svc.Webhook{URL: all.URL, Events: []string{svc.WebhookAll}})
	chat := add(t, s, svc.Webhook{URL: own.URL, Project: "shop", Events: []string{"version.ready", svc.WebhookErrors}, Format: svc.WebhookSlack})
	registrytest.Add(t, db, "bank", "v1", registrytest.ToReady()...)
	eventually(t, all, "version.ready")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	eventually(t, all, "version.ready", "version.ready")
	registrytest.Add(t, db, "shop", "v2", svc.TriggerFetch, svc.TriggerFail)
	eventually(t, all, "version.ready", "version.ready", "version.failed")
	svctest.Eventually(t, "the chat has two sentences", func() bool { return len(deliveries(t, s, chat.ID)) == 2 && len(own.types()) == 2 })
	if got := strings.Join(own.bodies, "\n"); !strings.Contains(got, `{"text":"shop/v1 is ready"}`) || !strings.Contains(got, `{"text":"shop/v2 failed"}`) {
		t.Errorf("the chat got %s", got)
	}
	if !strings.Contains(all.bodies[1], `"project_id":"shop","version_id":"v1","status":"ready"`) || !strings.Contains(all.bodies[1], `"text":"shop/v1 is ready"`) {
		t.Errorf("the body is %s", all.bodies[1])
	}
}

// TestRetries: a delivery that is not accepted is tried again as the schedule says, then it has failed; a
// replay sends it under the same id.
func TestRetries(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	s, r := start(t, db, time.Millisecond, 2*time.Millisecond), newReceiver(t)
	r.answer(500)
	w := add(t, s, svc.Webhook{URL: r.URL, Events: []string{"version.ready"}})
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	var d svc.WebhookDelivery
	svctest.Eventually(t, "the delivery has failed", func() bool {
		list := deliveries(t, s, w.ID)
		if len(list) == 1 {
			d = list[0]
		}
		return len(list) == 1 && d.Attempts == 3 && d.NextAt.IsZero()
	})
	if d.Delivered || d.Status != 500 || len(r.types()) != 3 {
		t.Errorf("%+v after %q", d, r.types())
	}
	r.answer(204)
	if _, err := s.Replay(t.Context(), w.ID, d.ID); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the replay is delivered", func() bool { return deliveries(t, s, w.ID)[0].Delivered })
	if len(r.got) != 4 || r.got[0] != r.got[3] {
		t.Errorf("got %q", r.got)
	}
}

// TestGone: a receiver that answers 410 gets no more events.
func TestGone(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	s, r := start(t, db), newReceiver(t)
	r.answer(http.StatusGone)
	w := add(t, s, svc.Webhook{URL: r.URL, Events: []string{"version.ready"}})
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	svctest.Eventually(t, "the webhook has ended", func() bool {
		all, err := s.List(t.Context(), "")
		return err == nil && len(all) == 1 && !all[0].EndedAt.IsZero()
	})
	other := newReceiver(t)
	add(t, s, svc.Webhook{URL: other.URL, Events: []string{"version.ready"}})
	registrytest.Add(t, db, "shop", "v2", registrytest.ToReady()...)
	eventually(t, other, "version.ready")
	if got := deliveries(t, s, w.ID); len(got) != 1 {
		t.Errorf("deliveries %+v", got)
	}
}

// TestOverRestart: what happened while no process sent is sent by the next one, and what was waiting too.
func TestOverRestart(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := newReceiver(t)
	r.answer(503)
	s := start(t, db, time.Millisecond, time.Hour)
	w := add(t, s, svc.Webhook{URL: r.URL, Events: []string{"version.ready"}})
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	svctest.Eventually(t, "two tries", func() bool { return len(r.types()) == 2 && deliveries(t, s, w.ID)[0].Attempts == 2 })
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	registrytest.Add(t, db, "shop", "v2", registrytest.ToReady()...)
	r.answer(200)
	next := start(t, db, time.Millisecond)
	svctest.Eventually(t, "the second event", func() bool {
		list := deliveries(t, next, w.ID)
		return len(list) == 2 && list[0].Delivered && list[1].Attempts == 2
	})
}

// TestRotateAndTest: a test is sent once, and both secrets sign after a rotation.
func TestRotateAndTest(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	s, r := start(t, db), newReceiver(t)
	w := add(t, s, svc.Webhook{URL: r.URL, Events: []string{svc.WebhookAll}})
	d, err := s.Test(t.Context(), w.ID)
	if err != nil || !d.Delivered || d.Type != svc.WebhookTest || !bytes.Contains([]byte(d.Body), []byte("test of a webhook")) {
		t.Errorf("%+v, %v", d, err)
	}
	rotated, secret, err := s.Rotate(t.Context(), w.ID)
	if err != nil || rotated.Generation != 2 || secret == "" {
		t.Errorf("%+v, %v", rotated, err)
	}
	if err := s.Remove(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Test(t.Context(), w.ID)
	registrytest.WantError(t, err, svc.NotFound, svc.CodeWebhookNotFound)
}

// TestAddErrors: a webhook that cannot work is refused by field.
func TestAddErrors(t *testing.T) {
	t.Parallel()
	s := start(t, registrytest.Open(t, "shop"))
	_, _, err := s.Add(t.Context(), svc.Webhook{URL: "ftp://x", Events: []string{"version.exploded"}, Format: "xml"})
	if e := svc.AsError(err); len(e.Fields) != 3 || e.Fields[1].Pointer != "/events/0" {
		t.Errorf("%+v", e)
	}
	_, _, err = s.Add(t.Context(), svc.Webhook{URL: "https://u:secret@x", Events: []string{"all"}, Format: svc.WebhookStandard})
	if svc.CodeOf(err) != svc.CodeWebhookInvalid && len(svc.AsError(err).Fields) != 1 || strings.Contains(err.Error(), "secret@") {
		t.Error(err)
	}
	_, _, err = s.Add(t.Context(), svc.Webhook{URL: "https://x", Project: "none", Events: []string{"all"}, Format: svc.WebhookStandard})
	registrytest.WantError(t, err, svc.NotFound, svc.CodeProjectNotFound)
}

// TestTypes: each kind of a promotion has its words.
func TestTypes(t *testing.T) {
	t.Parallel()
	event := func(kind, status, previous string) svc.FeedEvent {
		return svc.FeedEvent{Type: kind, Data: svc.FeedData{Status: status, Previous: previous}}
	}
	for want, got := range map[string]string{
		"promotion.done": svc.WebhookType(event("promotion.done", "done", ""), svc.KindPromote, false), "release.failed": svc.WebhookType(event("promotion.done", "failed", ""), svc.KindRelease, false),
		"rollback.done": svc.WebhookType(event("promotion.done", "done", ""), svc.KindRelease, true), "release.aborted": svc.WebhookType(event(svc.FeedWatch, "aborted", ""), "", false),
		"version.crashed": svc.WebhookType(event(svc.FeedRuntimeRestarted, "", ""), "", false), "": svc.WebhookType(event("version.status", "ready", "draining"), "", false),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, e := range []string{"version.failed", "version.crashed", "rollback.failed"} {
		if w := (svc.Webhook{Events: []string{svc.WebhookErrors}}); !w.Wants(e, "shop") || w.Wants("version.ready", "shop") {
			t.Errorf("errors: %s", e)
		}
	}
}
