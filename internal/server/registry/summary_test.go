package registry_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSummaries: counts, the newest version and the time of production of each project.
func TestSummaries(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop", "empty", "other")
	v1 := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	if err := db.SetProduction(t.Context(), "shop", "", "v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SetPinned(t.Context(), v1.Ref, true); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		n := svc.NewVersion{Project: "shop", ID: id, GitRef: "main", Preview: svc.PreviewRequest{Name: "main"}}
		if _, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	registrytest.Move(t, db, registrytest.Add(t, db, "shop", "gone").Ref, svc.TriggerDestroy)
	registrytest.Add(t, db, "other", "v9")
	got, err := db.Summaries(t.Context(), []string{"shop", "empty", "nothing"})
	if err != nil || len(got) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	shop := got["shop"]
	if len(shop.Versions) != 2 || shop.Versions[svc.StatusReady] != 1 || shop.Versions[svc.StatusPending] != 2 || shop.Pinned != 1 || shop.Previews != 1 {
		t.Errorf("got %+v", shop)
	}
	if shop.Last == nil || shop.Last.Version != "b" || shop.Last.GitRef != "main" || !shop.ProductionSince.Equal(v1.ReadyAt) {
		t.Errorf("got %+v", shop)
	}
	if e := got["empty"]; e.Last != nil || len(e.Versions) != 0 || !e.ProductionSince.IsZero() {
		t.Errorf("got %+v", e)
	}
	p := svc.Promotion{ID: "op", Project: "shop", Version: "v1"}
	if err := db.CreatePromotion(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := db.FinishPromotion(t.Context(), "op", svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
		t.Fatal(err)
	}
	p, err = db.Promotion(t.Context(), "shop", "op")
	if got, _ := db.Summaries(t.Context(), []string{"shop"}); err != nil || !got["shop"].ProductionSince.Equal(p.FinishedAt) {
		t.Errorf("got %+v, want %v, %v", got, p.FinishedAt, err)
	}
}
