package registry_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// history returns the events after a position as "type version status|step/state".
func history(t *testing.T, db *registry.DB, after int64) (text []string) {
	t.Helper()
	events, err := db.EventsAfter(t.Context(), after, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.ID != after+int64(i)+1 || e.Time.IsZero() {
			t.Errorf("event %d is %+v", i, e)
		}
		state := e.Data.Status
		if e.Data.Step != "" {
			state = e.Data.Step + "/" + e.Data.StepState
		}
		text = append(text, strings.TrimSpace(e.Type+" "+e.Version+" "+state))
	}
	return text
}

// TestEvents: every change leaves its events in its own transaction.
func TestEvents(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	v1 := registrytest.Add(t, db, "shop", "v1", svc.TriggerFetch).Ref
	if _, err := db.Move(t.Context(), v1, svc.TriggerFail, svc.Change{Error: "fetching: x: no"}); err != nil {
		t.Fatal(err)
	}
	v2 := registrytest.Add(t, db, "shop", "v2", registrytest.ToReady()...).Ref
	before, err := db.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Move(t.Context(), v2, svc.TriggerWake, svc.Change{}); err == nil { // not allowed: no event
		t.Fatal("a ready version wakes")
	}
	if _, err := db.SetPinned(t.Context(), v2, true); err != nil {
		t.Fatal(err)
	}
	if err := db.CreatePromotion(t.Context(), svc.Promotion{ID: "op", Project: "shop", Version: "v2"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Journal("op").Record(t.Context(), saga.Entry{Step: "drain", Phase: saga.Done}); err != nil {
		t.Fatal(err)
	}
	if err := db.SetProduction(t.Context(), "shop", "", "v2"); err != nil {
		t.Fatal(err)
	}
	if err := db.FinishPromotion(t.Context(), "op", svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
		t.Fatal(err)
	}
	if err := db.SetProduction(t.Context(), "shop", "v2", ""); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, v2, svc.TriggerArchive, svc.TriggerWake, svc.TriggerActivate, svc.TriggerDestroy)
	first := strings.Join(history(t, db, 0), "\n")
	for _, want := range []string{
		"project.created", "version.created v1 pending", "queue.depth v1", "version.status v1 fetching", "version.step v1 fetching/running",
		"version.step v1 fetching/failed", "version.status v1 failed", "version.status v2 ready",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("lacks %q:\n%s", want, first)
		}
	}
	want := "version.pinned v2, promotion.started v2 running, promotion.step v2 drain/done, project.production v2, promotion.done v2 done, project.production, " +
		"version.archived v2 archived, version.woken v2 deploying, version.step v2 deploying/running, version.status v2 ready, version.step v2 deploying/done, version.destroyed v2 destroyed"
	if got := strings.Join(history(t, db, before), ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestEventsOverRestart: positions continue, and what is no longer kept is an error.
func TestEventsOverRestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	db, err := registry.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range 10 {
		if err := db.AddEvents(t.Context(), []svc.FeedEvent{{Type: "server.started", Time: now.Add(time.Duration(i) * time.Minute), Data: svc.FeedData{Detail: fmt.Sprint(i)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.TrimEvents(t.Context(), now.Add(4*time.Minute), 100); err != nil { // 5 to 10 are left
		t.Fatal(err)
	}
	_, err = db.EventsAfter(t.Context(), 3, 10)
	registrytest.WantError(t, err, svc.Gone, svc.CodeCursorExpired)
	if err := db.TrimEvents(t.Context(), now, 0); err != nil { // none is left
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = registrytest.OpenAt(t, path)
	if got, err := db.EventsAfter(t.Context(), 10, 10); len(got) != 0 || err != nil {
		t.Errorf("after the last: %v, %v", got, err)
	}
	for _, at := range []int64{0, 9, 11} {
		_, err = db.EventsAfter(t.Context(), at, 10)
		registrytest.WantError(t, err, svc.Gone, svc.CodeCursorExpired)
	}
	changed := db.Changed()
	if err := db.AddEvents(t.Context(), []svc.FeedEvent{{Type: "server.started", Time: now}}); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got, err := db.EventsAfter(t.Context(), 10, 10); len(got) != 1 || err != nil || got[0].ID != 11 {
		t.Errorf("after a restart: %v, %v", got, err)
	}
}
