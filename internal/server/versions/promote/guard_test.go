package promote_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// counted is a Leftovers whose counts do not change.
type counted svc.Unmerged

func (c counted) Left(context.Context, svc.Ref, svc.Ref) svc.Left {
	u := svc.Unmerged(c)
	return svc.Left{Unmerged: &u}
}

// TestGuard: what a project with a guard refuses, and what it lets pass.
func TestGuard(t *testing.T) {
	t.Parallel()
	written := svc.Written{Inserted: 1}
	for name, tc := range map[string]struct {
		left    promote.Leftovers
		refused string // "" if the promote passes
	}{
		"nothing left":     {counted{Common: "v1"}, ""},
		"a row":            {counted{Common: "v1", Tables: []svc.UnmergedTable{{Database: "main", Table: "orders", Written: written}}}, "lacks: 1 row of main.orders"},
		"a key and more":   {counted{Common: "v1", Keys: svc.Written{Updated: 1, Deleted: 1}, Objects: written}, "lacks: 2 keys, 1 object"},
		"messages":         {counted{Common: "v1", Messages: svc.Written{Inserted: 2, AtLeast: true}}, "lacks: at least 2 messages"},
		"an instance":      {counted{Common: "v1", Instances: written}, "lacks: 1 workflow instance"},
		"not all compared": {counted{Common: "v1", Tables: []svc.UnmergedTable{{Database: "main", Written: svc.Written{AtLeast: true}}}}, "at least 0 rows of main"},
		"no common cut":    {counted{Reason: svc.NoCutUnrelated}, "no version is an ancestor of both"},
		"a lost fork":      {counted{Reason: svc.NoCutLost}, "the record of the fork is deleted"},
		"not counted":      {counted{Reason: svc.NoCutUnavailable}, "could not be counted in time"},
		"no count at all":  {nil, "could not be counted in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := guarded(t)
			d := w.start(t, func(deps *promote.Deps) { deps.Leftovers = tc.left })
			if op := d.promote(t, w, "v1"); op.Status != svc.PromotionDone { // the first production
				t.Fatalf("the first production: %+v", op)
			}
			if op := d.promote(t, w, "v1"); op.Status != svc.PromotionUnchanged { // production itself
				t.Errorf("production itself: %+v", op)
			}
			op, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{})
			if tc.refused == "" {
				if err != nil || op.Status != svc.PromotionRunning {
					t.Errorf("%+v, %v", op, err)
				}
				return
			}
			e := svc.AsError(err)
			if !errors.Is(err, svc.Conflict) || e.Code != svc.CodePromoteLeaves || !strings.Contains(e.Detail, tc.refused) || e.Unmerged == nil {
				t.Fatalf("%+v", err)
			}
			if !strings.Contains(e.Hint, "svcctl release shop/v2") || !strings.Contains(e.Hint, "leave_writes") {
				t.Errorf("hint %q", e.Hint)
			}
			w.check(t, d.gateway, "v1")
			if op, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{LeaveWrites: true}); err != nil || op.Status != svc.PromotionRunning {
				t.Errorf("with consent: %+v, %v", op, err)
			}
		})
	}
}

// guarded is a world whose project has a guard and two ready versions.
func guarded(t *testing.T) *world {
	t.Helper()
	w, on := newWorld(t), true
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	if _, err := w.ChangeProject(t.Context(), "shop", svc.ProjectChange{Guard: &on}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestGuardOfTheBundle: a project gets the guard when a version whose bundle asks for it becomes
// production: the first one, or a promoted one. The deploy of another version, as of a pull request,
// changes nothing, and a bundle that cannot be read does not fail the promote.
func TestGuardOfTheBundle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, v := range []string{"v1", "v2", "v3"} {
		w.addReady(t, v)
	}
	asked, unreadable := []string{}, errors.New("the object store does not answer")
	d := w.start(t, func(deps *promote.Deps) {
		deps.Leftovers = counted{Common: "v1"}
		deps.Guards = func(_ context.Context, ref svc.Ref) (bool, error) {
			asked = append(asked, ref.Version)
			if ref.Version == "v2" {
				return false, unreadable
			}
			return ref.Version == "v3", nil
		}
	})
	want := func(guard bool, versions ...string) {
		t.Helper()
		p, err := w.Project(t.Context(), "shop")
		if err != nil || p.Guard != guard || !slices.Equal(asked, versions) {
			t.Errorf("guard %v, asked for %q, want %q; %v", p.Guard, asked, versions, err)
		}
	}
	for _, v := range []string{"v1", "v3"} { // v1 is the first; the deploy of v3 makes it ready only
		if err := d.AssignFirst(t.Context(), ref(v)); err != nil {
			t.Fatal(err)
		}
	}
	want(false, "v1")
	if op := d.promote(t, w, "v2"); op.Status != svc.PromotionDone {
		t.Errorf("%+v", op)
	}
	want(false, "v1", "v2")
	d.promote(t, w, "v3")
	want(true, "v1", "v2", "v3")
	d.promote(t, w, "v1") // a bundle that says nothing leaves the guard on
	want(true, "v1", "v2", "v3")

	w = newWorld(t)
	w.addReady(t, "v3")
	d = w.start(t, func(deps *promote.Deps) {
		deps.Guards = func(context.Context, svc.Ref) (bool, error) { return true, nil }
	})
	if err := d.AssignFirst(t.Context(), ref("v3")); err != nil {
		t.Fatal(err)
	}
	if p, err := w.Project(t.Context(), "shop"); err != nil || !p.Guard {
		t.Errorf("the first production: %+v, %v", p, err)
	}
}
