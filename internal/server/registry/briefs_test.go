package registry_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestBriefs(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.AddProject(t, db, "other")
	registrytest.Add(t, db, "other", "elsewhere")
	root := registrytest.Add(t, db, "shop", "root", registrytest.ToReady()...)
	child := registrytest.Add(t, db, "shop", "child")
	if err := db.SetForkTXID(t.Context(), child.Ref, "7"); err != nil {
		t.Fatal(err)
	}
	gone := registrytest.Add(t, db, "shop", "gone")
	registrytest.Move(t, db, gone.Ref, svc.TriggerDestroy)

	got, err := db.Briefs(t.Context(), "shop")
	want := []svc.Brief{
		{ID: "root", Status: svc.StatusReady, UpdatedAt: updated(t, db.Version, root.Ref)},
		{ID: "child", Status: svc.StatusPending, ForkTXID: "7", UpdatedAt: updated(t, db.Version, child.Ref)},
		{ID: "gone", Status: svc.StatusDestroyed, UpdatedAt: updated(t, db.Version, gone.Ref)},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if got, err := db.Briefs(t.Context(), "none"); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func updated(t *testing.T, get func(context.Context, svc.Ref) (svc.Version, error), ref svc.Ref) time.Time {
	t.Helper()
	v, err := get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return v.UpdatedAt
}
