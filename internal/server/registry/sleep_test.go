package registry_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSetAsleep: a version sleeps as long as its status serves, which is no change of the
// record's ETag.
func TestSetAsleep(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	before := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	r := before.Ref
	at, wake := time.UnixMilli(7).UTC(), time.UnixMilli(9).UTC()
	expect := func(at, wake time.Time) {
		t.Helper()
		if v := registrytest.Get(t, db, r); !v.AsleepAt.Equal(at) || !v.WakeAt.Equal(wake) {
			t.Errorf("it sleeps at %v until %v, want %v and %v", v.AsleepAt, v.WakeAt, at, wake)
		}
	}
	for range 2 {
		if err := db.SetAsleep(t.Context(), r, at, wake); err != nil {
			t.Fatal(err)
		}
		expect(at, wake)
	}
	if v := registrytest.Get(t, db, r); !v.UpdatedAt.Equal(before.UpdatedAt) {
		t.Error("the record has changed")
	}
	registrytest.Move(t, db, r, svc.TriggerDrain)
	expect(at, wake)
	registrytest.Move(t, db, r, svc.TriggerUndrain)
	expect(at, wake)
	registrytest.Move(t, db, r, svc.TriggerArchive)
	expect(time.Time{}, time.Time{})
	registrytest.WantError(t, db.SetAsleep(t.Context(), r, at, wake), svc.Conflict, svc.CodeVersionNotReady)
	if err := db.SetAsleep(t.Context(), r, time.Time{}, time.Time{}); err != nil {
		t.Error(err)
	}
}
