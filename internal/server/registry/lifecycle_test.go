package registry_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestSetPinned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := registrytest.Open(t, "shop")
		r := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...).Ref
		for i, tc := range []struct{ pin, changes bool }{{false, false}, {true, true}, {true, false}, {false, true}, {true, true}} {
			<-time.After(time.Second)
			v, err := db.SetPinned(t.Context(), r, tc.pin)
			if changed := v.UpdatedAt.Equal(time.Now()); err != nil || v.Pinned != tc.pin || changed != tc.changes {
				t.Errorf("%d: pinned %v, changed %v, %v", i, v.Pinned, changed, err)
			}
		}
		registrytest.Move(t, db, r, svc.TriggerArchive) // a pin protects from idle archiving only [D18]
		if v, err := db.SetPinned(t.Context(), r, false); err != nil || v.Status != svc.StatusArchived {
			t.Errorf("an archived version: %s, %v", v.Status, err)
		}
		registrytest.Move(t, db, r, svc.TriggerDestroy)
		_, err := db.SetPinned(t.Context(), r, true)
		registrytest.WantError(t, err, svc.Gone, "version_destroyed")
		_, err = db.SetPinned(t.Context(), ref("shop", 9), true)
		registrytest.WantError(t, err, svc.NotFound, "version_not_found")
		_, err = db.SetPinned(t.Context(), ref("none", 1), true)
		registrytest.WantError(t, err, svc.NotFound, "project_not_found")
	})
}

func TestPurge(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	n := svc.NewVersion{Project: "shop", ID: "v1", Env: map[string]string{"TOKEN": "hush"}}
	first, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.ID = "v2"
	if _, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	unpurged := func(want ...svc.Ref) {
		t.Helper()
		got, err := db.Unpurged(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	unpurged()
	registrytest.WantError(t, db.MarkPurged(t.Context(), first.Ref), svc.Conflict, "version_not_destroyed")
	registrytest.WantError(t, db.MarkPurged(t.Context(), ref("shop", 9)), svc.NotFound, "version_not_found")
	registrytest.Move(t, db, first.Ref, svc.TriggerDestroy)
	unpurged(first.Ref)
	for range 2 {
		if err := db.MarkPurged(t.Context(), first.Ref); err != nil {
			t.Fatal(err)
		}
		unpurged()
	}
	tombstone, err := db.Version(t.Context(), first.Ref)
	if err != nil || len(tombstone.Env) != 0 || tombstone.Status != svc.StatusDestroyed {
		t.Errorf("the tombstone: %+v, %v", tombstone, err)
	}
	if other, err := db.Version(t.Context(), ref("shop", 2)); err != nil || other.Env["TOKEN"] != "hush" {
		t.Errorf("another version lost its overrides: %v, %v", other.Env, err)
	}
	_, _, err = db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: "v1"}, svc.CreateOptions{})
	registrytest.WantError(t, err, svc.Conflict, "version_exists") // ids are never used twice [D2]
}

// TestPinRollback: each promote moves the automatic pins on; those of people stay.
// spec: [C8.14] [C16.24]
func TestPinRollback(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	ids := []string{"v1", "v2", "v3", "v4"}
	for _, id := range ids {
		registrytest.Add(t, db, "shop", id, registrytest.ToReady()...)
	}
	production, n := "", 0
	promote := func(id string, keep int) {
		t.Helper()
		n++
		op := svc.Promotion{ID: fmt.Sprint("op-", n), Project: "shop", Version: id, Previous: production}
		if err := db.CreatePromotion(t.Context(), op); err != nil {
			t.Fatal(err)
		}
		if err := db.SetProduction(t.Context(), "shop", production, id); err != nil {
			t.Fatal(err)
		}
		for range 2 { // idempotent, for a resumed promotion
			if err := db.PinRollback(t.Context(), op, keep); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.FinishPromotion(t.Context(), op.ID, svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
			t.Fatal(err)
		}
		production = id
	}
	expect := func(want string) {
		t.Helper()
		got := ""
		for _, id := range ids {
			switch v := registrytest.Get(t, db, svc.Ref{Project: "shop", Version: id}); {
			case v.PinAuto:
				got += " " + id
			case v.Pinned:
				got += " " + id + "(user)"
			}
		}
		if got != want {
			t.Errorf("pinned are%s, want%s", got, want)
		}
	}
	promote("v1", 1)
	expect("")
	promote("v2", 1)
	expect(" v1")
	promote("v3", 1)
	expect(" v2")
	promote("v2", 1) // back: production needs no pin
	expect(" v3")
	promote("v4", 2)
	expect(" v2 v3")
	if _, err := db.SetPinned(t.Context(), ref("shop", 3), true); err != nil { // a person takes the pin over
		t.Fatal(err)
	}
	promote("v1", 1)
	expect(" v3(user) v4")
	registrytest.Move(t, db, ref("shop", 4), svc.TriggerDestroy)
	promote("v2", 2) // v4 is gone
	expect(" v1 v3(user)")
	promote("v1", 0)
	expect(" v3(user)")
	if v, err := db.SetPinned(t.Context(), ref("shop", 3), false); err != nil || v.Pinned {
		t.Errorf("%v, %v", v.Pinned, err)
	}
}
