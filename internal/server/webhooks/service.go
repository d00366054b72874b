package webhooks

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// rotation is how long the secret before a rotation signs, too.
const rotation = 24 * time.Hour

// kept is how long ended deliveries are kept.
const kept = 7 * 24 * time.Hour

// Registry keeps webhooks and their deliveries.
type Registry interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	Promotion(ctx context.Context, project, id string) (svc.Promotion, error)
	// WasProduction reports whether a version was production before an operation.
	WasProduction(ctx context.Context, ref svc.Ref, operation string) (bool, error)
	Changed() <-chan struct{}
	LastEvent(ctx context.Context) (int64, error)
	EventsAfter(ctx context.Context, after int64, limit int) ([]svc.FeedEvent, error)

	AddWebhook(ctx context.Context, w svc.Webhook) error
	Webhooks(ctx context.Context) ([]svc.Webhook, error)
	Webhook(ctx context.Context, id string) (svc.Webhook, error)
	RemoveWebhook(ctx context.Context, id string) error
	RotateWebhook(ctx context.Context, id string, at time.Time) (svc.Webhook, error)
	// EndWebhook records that the receiver is gone, and ends the deliveries that wait.
	EndWebhook(ctx context.Context, id string, at time.Time) error

	// AddDeliveries adds deliveries and moves the cursors of all webhooks to an event.
	AddDeliveries(ctx context.Context, list []svc.WebhookDelivery, cursor int64) error
	Deliveries(ctx context.Context, webhook string, p svc.PageRequest) (svc.Page[svc.WebhookDelivery], error)
	Delivery(ctx context.Context, webhook, id string) (svc.WebhookDelivery, error)
	SaveDelivery(ctx context.Context, d svc.WebhookDelivery) error
	// DueDeliveries returns those whose next try is due, and when the next one will be.
	DueDeliveries(ctx context.Context, now time.Time, limit int) (due []svc.WebhookDelivery, next time.Time, err error)
	TrimDeliveries(ctx context.Context, before time.Time) error
}

// Schedule returns the waits after failed tries: a day and a half in all.
func Schedule() []time.Duration {
	return []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour}
}

// Deps are the dependencies of a Service.
type Deps struct {
	Registry Registry
	Master   []byte          // of which the secrets are derived
	Allowed  []netip.Prefix  // private networks that webhooks reach
	Schedule []time.Duration // nil: Schedule
	Logger   *slog.Logger
	Done     func(result string) // counts tries: "delivered", "failed"; nil: no counting
}

// Service keeps and serves the webhooks of a server.
type Service struct {
	deps   Deps
	client *http.Client
	wake   chan struct{} // a webhook or a delivery was added

	mu      sync.Mutex
	flying  map[string]bool // deliveries that are being sent
	crashed map[svc.Ref]time.Time

	stop context.CancelFunc
	done sync.WaitGroup
}

// New returns a Service, or an error if a dependency is missing. It starts nothing.
func New(deps Deps) (*Service, error) {
	if deps.Registry == nil || len(deps.Master) == 0 || deps.Logger == nil {
		return nil, errors.New("webhooks: registry, master key and logger required")
	}
	if deps.Schedule == nil {
		deps.Schedule = Schedule()
	}
	if deps.Done == nil {
		deps.Done = func(string) {}
	}
	return &Service{
		deps: deps, client: newClient(deps.Allowed), wake: make(chan struct{}, 1), stop: func() {},
		flying: map[string]bool{}, crashed: map[svc.Ref]time.Time{},
	}, nil
}

func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// Add adds a webhook, which gets the events from now on, and returns it with its secret. Errors:
// Unprocessable, webhook_invalid or webhooks_too_many; NotFound, project_not_found.
func (s *Service) Add(ctx context.Context, w svc.Webhook) (svc.Webhook, string, error) {
	if err := w.Validate(); err != nil {
		return w, "", err
	}
	if w.Project != "" {
		if _, err := s.deps.Registry.Project(ctx, w.Project); err != nil {
			return w, "", err
		}
	}
	var err error
	if w.Cursor, err = s.deps.Registry.LastEvent(ctx); err != nil {
		return w, "", err
	}
	w.ID, w.Generation, w.CreatedAt = newID("wh_"), 1, time.Now()
	if err := s.deps.Registry.AddWebhook(ctx, w); err != nil {
		return w, "", err
	}
	s.awake()
	return w, secretOf(s.deps.Master, w.ID, 1), nil
}

// List returns all webhooks, or those of a project.
func (s *Service) List(ctx context.Context, project string) ([]svc.Webhook, error) {
	all, err := s.deps.Registry.Webhooks(ctx)
	if err != nil || project == "" {
		return all, err
	}
	var own []svc.Webhook
	for _, w := range all {
		if w.Project == project {
			own = append(own, w)
		}
	}
	return own, nil
}

// Remove removes a webhook with its deliveries. Errors: NotFound, webhook_not_found.
func (s *Service) Remove(ctx context.Context, id string) error {
	return s.deps.Registry.RemoveWebhook(ctx, id)
}

// Rotate gives a webhook another secret and returns it. The one before signs for a day, too.
func (s *Service) Rotate(ctx context.Context, id string) (svc.Webhook, string, error) {
	w, err := s.deps.Registry.RotateWebhook(ctx, id, time.Now())
	if err != nil {
		return w, "", err
	}
	return w, secretOf(s.deps.Master, id, w.Generation), nil
}

// Test sends an event of the type webhook.test once, and returns what came of it.
func (s *Service) Test(ctx context.Context, id string) (svc.WebhookDelivery, error) {
	w, err := s.deps.Registry.Webhook(ctx, id)
	if err != nil {
		return svc.WebhookDelivery{}, err
	}
	now := time.Now()
	d := svc.WebhookDelivery{ID: newID("msg_"), Webhook: id, Type: svc.WebhookTest, Body: bodyOf(w.Format, svc.WebhookTest, svc.FeedEvent{Time: now}), CreatedAt: now}
	s.try(ctx, w, &d)
	if err := s.deps.Registry.AddDeliveries(ctx, []svc.WebhookDelivery{d}, 0); err != nil {
		return d, err
	}
	return d, nil
}

// Deliveries returns a page of the deliveries of a webhook, newest first.
func (s *Service) Deliveries(ctx context.Context, id string, p svc.PageRequest) (svc.Page[svc.WebhookDelivery], error) {
	if _, err := s.deps.Registry.Webhook(ctx, id); err != nil {
		return svc.Page[svc.WebhookDelivery]{}, err
	}
	return s.deps.Registry.Deliveries(ctx, id, p)
}

// Replay sends a delivery again, under the same id, with the tries of a new one. Errors: NotFound,
// webhook_not_found or delivery_not_found.
func (s *Service) Replay(ctx context.Context, webhook, id string) (svc.WebhookDelivery, error) {
	if _, err := s.deps.Registry.Webhook(ctx, webhook); err != nil {
		return svc.WebhookDelivery{}, err
	}
	d, err := s.deps.Registry.Delivery(ctx, webhook, id)
	if err != nil {
		return d, err
	}
	d.Attempts, d.NextAt, d.Delivered = 0, time.Now(), false
	if err := s.deps.Registry.SaveDelivery(ctx, d); err != nil {
		return d, err
	}
	s.awake()
	return d, nil
}

func (s *Service) awake() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake already
	}
}
