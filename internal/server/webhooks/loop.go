package webhooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	parallel   = 4                // deliveries that are sent at a time
	eventsRead = 500              // events that are read together
	crashPause = 10 * time.Minute // between two events about crashes of one version
	longest    = time.Hour        // without looking for deliveries to delete
)

// Start begins to send. Stop ends it.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.done.Go(func() { s.run(ctx) })
}

// Stop ends the tries under way and waits for them. The next process repeats them.
func (s *Service) Stop(ctx context.Context) error {
	s.stop()
	ended := make(chan struct{})
	go func() { s.done.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run makes deliveries of events and sends those that are due, until ctx ends. Without a webhook it waits
// for one.
func (s *Service) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := s.deps.Registry.Changed()
		pause, some, err := s.step(ctx)
		if err != nil && ctx.Err() == nil {
			s.deps.Logger.WarnContext(ctx, "reading the deliveries of webhooks failed; retrying", "error", err, "retry_in", pause)
		}
		if !some {
			changed = nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// step does what is due, and returns how long nothing will be, and whether there are webhooks.
func (s *Service) step(ctx context.Context) (pause time.Duration, some bool, err error) {
	hooks, err := s.deps.Registry.Webhooks(ctx)
	if err != nil {
		return time.Second, true, err
	}
	if len(hooks) == 0 {
		return longest, false, nil
	}
	if err := s.deps.Registry.TrimDeliveries(ctx, time.Now().Add(-kept)); err != nil {
		return time.Second, true, err
	}
	if err := s.fanOut(ctx, hooks); err != nil {
		return time.Second, true, err
	}
	due, next, err := s.deps.Registry.DueDeliveries(ctx, time.Now(), 2*parallel)
	if err != nil {
		return time.Second, true, err
	}
	for _, d := range due {
		s.launch(ctx, d)
	}
	pause = longest
	if !next.IsZero() {
		pause = min(max(time.Until(next), 0), longest)
	}
	return pause, true, nil
}

// fanOut makes deliveries of the events after the cursors.
func (s *Service) fanOut(ctx context.Context, hooks []svc.Webhook) error {
	after := hooks[0].Cursor
	for _, w := range hooks {
		after = min(after, w.Cursor)
	}
	events, err := s.deps.Registry.EventsAfter(ctx, after, eventsRead)
	if svc.CodeOf(err) == svc.CodeCursorExpired {
		last, lastErr := s.deps.Registry.LastEvent(ctx)
		s.deps.Logger.WarnContext(ctx, "events are no longer kept; webhooks continue with the newest", "from", after, "to", last)
		return errors.Join(lastErr, s.deps.Registry.AddDeliveries(ctx, nil, last))
	}
	if err != nil || len(events) == 0 {
		return err
	}
	var list []svc.WebhookDelivery
	for _, e := range events {
		kind, err := s.kind(ctx, e)
		if err != nil {
			return err
		}
		for _, w := range hooks {
			if kind == "" || e.ID <= w.Cursor || !w.EndedAt.IsZero() || !w.Wants(kind, e.Project) {
				continue
			}
			now := time.Now()
			list = append(list, svc.WebhookDelivery{ID: newID("msg_"), Webhook: w.ID, Type: kind, Body: bodyOf(w.Format, kind, e), CreatedAt: now, NextAt: now})
		}
	}
	if err := s.deps.Registry.AddDeliveries(ctx, list, events[len(events)-1].ID); err != nil {
		return err
	}
	if len(events) == eventsRead {
		s.awake()
	}
	return nil
}

// kind returns the type of an event; "" for one that no webhook gets. Of the crashes of a version it returns
// one in ten minutes.
func (s *Service) kind(ctx context.Context, e svc.FeedEvent) (string, error) {
	var p svc.Promotion
	rollback := false
	if e.Type == "promotion.done" {
		var err error
		if p, err = s.deps.Registry.Promotion(ctx, e.Project, e.Data.Operation); err != nil && !errors.Is(err, svc.NotFound) {
			return "", err
		}
		code := svc.Ref{Project: e.Project, Version: cmp.Or(p.Candidate, e.Version)}
		if rollback, err = s.deps.Registry.WasProduction(ctx, code, e.Data.Operation); err != nil {
			return "", err
		}
	}
	kind := svc.WebhookType(e, p.Kind, rollback)
	if kind != "version.crashed" {
		return kind, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := svc.Ref{Project: e.Project, Version: e.Version}
	if e.Time.Sub(s.crashed[ref]) < crashPause {
		return "", nil
	}
	s.crashed[ref] = e.Time
	return kind, nil
}

// launch sends a delivery, unless it is being sent or enough are.
func (s *Service) launch(ctx context.Context, d svc.WebhookDelivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flying[d.ID] || len(s.flying) >= parallel {
		return
	}
	s.flying[d.ID] = true
	s.done.Go(func() {
		s.send(ctx, d)
		s.mu.Lock()
		delete(s.flying, d.ID)
		s.mu.Unlock()
		s.awake()
	})
}

// send tries a delivery once and records what came of it.
func (s *Service) send(ctx context.Context, d svc.WebhookDelivery) {
	w, err := s.deps.Registry.Webhook(ctx, d.Webhook)
	if err != nil {
		return // removed meanwhile, or the registry fails: the delivery stays due
	}
	s.try(ctx, w, &d)
	if ctx.Err() != nil && !d.Delivered {
		return // the next process tries again
	}
	ctx = context.WithoutCancel(ctx)
	d.NextAt = time.Time{}
	log := s.deps.Logger.With("webhook", w.ID, "delivery", d.ID, "type", d.Type)
	switch {
	case d.Delivered:
		s.deps.Done("delivered")
	case d.Status == http.StatusGone:
		log.WarnContext(ctx, "the receiver of a webhook is gone; it gets no more events")
		err = s.deps.Registry.EndWebhook(ctx, w.ID, time.Now())
	case d.Attempts <= len(s.deps.Schedule):
		d.NextAt = time.Now().Add(s.deps.Schedule[d.Attempts-1])
		log.InfoContext(ctx, "sending to a webhook failed; trying again", "status", d.Status, "error", d.Error, "retry_at", d.NextAt)
	default:
		log.WarnContext(ctx, "sending to a webhook failed; giving up", "status", d.Status, "error", d.Error, "attempts", d.Attempts)
	}
	if !d.Delivered {
		s.deps.Done("failed")
	}
	if err = errors.Join(err, s.deps.Registry.SaveDelivery(ctx, d)); err != nil {
		log.WarnContext(ctx, "recording a delivery failed; it is sent again", "error", err)
	}
}
