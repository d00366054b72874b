package registry_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestParentAt: the moment that a version was asked to begin with stays in its record, and a repeat with another one is
// another request.
func TestParentAt(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "staging", registrytest.ToReady()...)
	at := time.Date(2026, 3, 4, 10, 41, 3, 250_000_000, time.UTC)
	n := svc.NewVersion{ID: "child", ParentID: "staging", ParentAt: at}
	for range 2 {
		v, err := fork(t, db, n)
		if err != nil || !v.ParentAt.Equal(at) {
			t.Errorf("%+v, %v", v, err)
		}
	}
	n.ParentAt = at.Add(time.Second)
	_, err := fork(t, db, n)
	registrytest.WantError(t, err, svc.Conflict, svc.CodeVersionExists)
	if v, err := fork(t, db, svc.NewVersion{ID: "newest", ParentID: "staging"}); err != nil || !v.ParentAt.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
}
