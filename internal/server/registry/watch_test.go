package registry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestSetWatch: a watch begins with the end of its release, and its end is an event.
func TestSetWatch(t *testing.T) {
	t.Parallel()
	db := shop(t)
	p := promotion("op1")
	p.Kind, p.Watch = svc.KindRelease, svc.Watch{For: time.Minute, AbortOn: "errors>1%"}
	addPromotion(t, db, p)
	watched := func() (ids []string) {
		ops, err := db.WatchedPromotions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			ids = append(ids, op.ID)
		}
		return ids
	}
	read := func() svc.Watch {
		got, err := db.Promotion(t.Context(), "shop", "op1")
		if err != nil {
			t.Fatal(err)
		}
		return got.Watch
	}
	if got := read(); got != p.Watch || watched() != nil {
		t.Errorf("before its release is done: %+v", got)
	}
	began := p.Watch.Begun(time.Now().UTC().Truncate(time.Second))
	if err := db.FinishPromotion(t.Context(), "op1", svc.PromotionOutcome{Status: svc.PromotionDone, Watch: began}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(began, read()) + cmp.Diff([]string{"op1"}, watched()); d != "" {
		t.Error(d)
	}
	last, err := db.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began.State, began.Detail, began.Operation = svc.WatchAborted, "errors 3.1% > 1%", "op2"
	if err := db.SetWatch(t.Context(), p, began); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(began, read()); d != "" || watched() != nil {
		t.Error(d)
	}
	events, err := db.EventsAfter(t.Context(), last, 10)
	want := svc.FeedData{Status: "aborted", Detail: "errors 3.1% > 1%", Operation: "op1"}
	if err != nil || len(events) != 1 || events[0].Type != "promotion.watch" || events[0].Version != "v2" || events[0].Data != want {
		t.Errorf("%+v, %v", events, err)
	}
}
