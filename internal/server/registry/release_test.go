package registry_test

import (
	"maps"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// quietVersion creates a ready version whose events are off.
func quietVersion(t *testing.T, db *registry.DB, id string) svc.Version {
	t.Helper()
	v, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: id, Events: svc.EventsOff}, svc.CreateOptions{})
	if err != nil || v.Events != svc.EventsOff {
		t.Fatalf("%+v, %v", v, err)
	}
	return registrytest.Move(t, db, v.Ref, registrytest.ToReady()...)
}

// TestEventsOff: a version without events gets them when it becomes production, the first one and
// a later one, and keeps them after that.
func TestEventsOff(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	first := quietVersion(t, db, "v1")
	later := quietVersion(t, db, "v2")
	if first.RunsEvents() || later.RunsEvents() {
		t.Error("a version runs events that are off")
	}
	again := svc.NewVersion{Project: "shop", ID: "v2"} // asks for events
	_, _, err := db.CreateVersion(t.Context(), again, svc.CreateOptions{})
	registrytest.WantError(t, err, svc.Conflict, svc.CodeVersionExists)
	produce(t, db, "", "v1")
	produce(t, db, "v1", "v2")
	for _, ref := range []svc.Ref{first.Ref, later.Ref} {
		if v := registrytest.Get(t, db, ref); v.Events != svc.EventsOn || !v.RunsEvents() {
			t.Errorf("%s has events %q", ref, v.Events)
		}
	}
	db = registrytest.Open(t, "shop")
	v, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: "v1", Events: svc.EventsOff}, svc.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps := registrytest.ToReady()
	registrytest.Move(t, db, v.Ref, steps[:len(steps)-1]...)
	if v, err = db.Move(t.Context(), v.Ref, svc.TriggerActivate, svc.Change{FirstProduction: true}); err != nil || !v.Production || v.Events != svc.EventsOn {
		t.Errorf("the first production: %+v, %v", v, err)
	}
}

// almostReady is a version whose next step makes it ready.
func almostReady(t *testing.T, db *registry.DB, id string) svc.Ref {
	t.Helper()
	steps := registrytest.ToReady()
	return registrytest.Add(t, db, "shop", id, steps[:len(steps)-1]...).Ref
}

// TestTakeOver: the commit of a release makes its version ready and production and hands the events
// over, in one transaction; if production is another one, nothing is changed.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	db := twoReady(t)
	next := almostReady(t, db, "v3")
	before, old := registrytest.Get(t, db, next), registrytest.Get(t, db, ref("shop", 1))
	_, err := db.Move(t.Context(), next, svc.TriggerActivate, svc.Change{InsteadOf: "v2"})
	registrytest.WantError(t, err, svc.Precondition, svc.CodeProductionMoved)
	if v := registrytest.Get(t, db, next); v.Status != before.Status || !v.UpdatedAt.Equal(before.UpdatedAt) || len(v.Timeline) != len(before.Timeline) || v.Production {
		t.Errorf("after a refusal: %+v", v)
	}
	for _, id := range []int{1, 2} {
		if v := registrytest.Get(t, db, ref("shop", id)); v.Events != svc.EventsOn || v.HandedOverTo != "" || v.Production != (id == 1) {
			t.Errorf("after a refusal: %+v", v)
		}
	}
	v, err := db.Move(t.Context(), next, svc.TriggerActivate, svc.Change{InsteadOf: "v1"})
	if err != nil || v.Status != svc.StatusReady || !v.Production || !v.RunsEvents() {
		t.Errorf("%+v, %v", v, err)
	}
	got := registrytest.Get(t, db, ref("shop", 1))
	if got.Events != svc.EventsHandedOver || got.HandedOverTo != "v3" || got.RunsEvents() || got.Production || !got.UpdatedAt.After(old.UpdatedAt) {
		t.Errorf("the old production: %+v", got)
	}
	produce(t, db, "v3", "v1") // back to it: it runs its events again
	if got := registrytest.Get(t, db, ref("shop", 1)); got.Events != svc.EventsOn || got.HandedOverTo != "" {
		t.Errorf("after a rollback: %+v", got)
	}
	if got := registrytest.Get(t, db, next); got.Events != svc.EventsHandedOver || got.HandedOverTo != "v1" {
		t.Errorf("the version that a rollback left: %+v", got)
	}
	produce(t, db, "v1", "v2") // a plain promote leaves the events with each version
	if got := registrytest.Get(t, db, ref("shop", 1)); got.Events != svc.EventsOn {
		t.Errorf("after a promote: %+v", got)
	}
}

// TestCreateRelease: a release has a version without a job, with the overrides of the request
// alone, and runs; a second one at the same time stores nothing.
func TestCreateRelease(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	n := svc.NewVersion{Project: "shop", ID: "v1", Env: map[string]string{"A": "production", "B": "production"}}
	if _, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, ref("shop", 1), registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "check", registrytest.ToReady()...)
	produce(t, db, "", "v1")
	jobs := depth(t, db)
	release := func(id, op string) (svc.Promotion, svc.Version, error) {
		p := svc.Promotion{ID: op, Project: "shop", Previous: "v1", Status: svc.PromotionRunning}
		n := svc.NewVersion{Project: "shop", ID: id, ParentID: "v1", ReleasedFrom: "check", Env: map[string]string{"A": "candidate"}}
		v, err := db.CreateRelease(t.Context(), n, svc.ForkPolicy{}, &p)
		return p, v, err
	}
	p, v, err := release("v2", "op-1")
	if err != nil || v.Version != "v2" || v.ParentID != "v1" || v.ReleasedFrom != "check" || !maps.Equal(v.Env, map[string]string{"A": "candidate"}) {
		t.Errorf("%+v, %v", v, err)
	}
	stored, err := db.Promotion(t.Context(), "shop", "op-1")
	if err != nil || stored.Kind != svc.KindRelease || stored.Candidate != "check" || stored.Version != "v2" || stored.Status != svc.PromotionRunning || p.Version != "v2" {
		t.Errorf("%+v, %v", stored, err)
	}
	if got := depth(t, db); got != jobs {
		t.Errorf("%d jobs, had %d: the release deploys its version", got, jobs)
	}
	_, _, err = release("v3", "op-2")
	registrytest.WantError(t, err, svc.Conflict, svc.CodePromoteInProgress)
	_, err = db.Version(t.Context(), ref("shop", 3))
	registrytest.WantError(t, err, svc.NotFound, svc.CodeVersionNotFound)
	_, _, err = release("v2", "op-3")
	registrytest.WantError(t, err, svc.Conflict, svc.CodeVersionExists)
}

func depth(t *testing.T, db *registry.DB) int {
	t.Helper()
	n, err := db.QueueDepth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}
