package registry_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// twoReady is the project shop with the ready versions v1 and v2, v1 production.
func twoReady(t *testing.T) *registry.DB {
	t.Helper()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "v2", registrytest.ToReady()...)
	produce(t, db, "", "v1")
	return db
}

func produce(t *testing.T, db *registry.DB, expected, next string) {
	t.Helper()
	if err := db.SetProduction(t.Context(), "shop", expected, next); err != nil {
		t.Fatal(err)
	}
}

// TestParentProduction: @production is the production of the moment, by the rules of every parent;
// a repeat returns the version of then although production has moved.
func TestParentProduction(t *testing.T) {
	t.Parallel()
	db := twoReady(t)
	create := func(n svc.NewVersion, key string) (svc.Version, bool, error) {
		n.Project, n.ParentID = "shop", svc.ParentProduction
		forks := svc.ForkPolicy{PRRefs: []string{"pull/*"}}
		return db.CreateVersion(t.Context(), n, svc.CreateOptions{Forks: forks, SubmitOptions: svc.SubmitOptions{IdempotencyKey: key, BodyHash: "h"}})
	}
	n := svc.NewVersion{ID: "child", GitRef: "main"}
	if v, created, err := create(n, "k"); err != nil || !created || v.ParentID != "v1" {
		t.Fatalf("%+v, %v, %v", v, created, err)
	}
	_, _, err := create(svc.NewVersion{GitRef: "pull/7"}, "")
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeForkOfProduction)
	produce(t, db, "v1", "v2")
	for _, key := range []string{"", "k"} {
		if v, created, err := create(n, key); err != nil || created || v.Version != "child" || v.ParentID != "v1" {
			t.Errorf("a repeat with key %q: %+v, %v, %v", key, v, created, err)
		}
	}
	other := svc.NewVersion{Project: "shop", ID: "child", ParentID: "v1", GitRef: "main"} // asks for something else
	_, _, err = db.CreateVersion(t.Context(), other, svc.CreateOptions{})
	registrytest.WantError(t, err, svc.Conflict, svc.CodeVersionExists)
	if v, _, err := create(svc.NewVersion{ID: "later"}, ""); err != nil || v.ParentID != "v2" {
		t.Errorf("after the move: %+v, %v", v, err)
	}
}

// TestNoProduction: a project without production has no @production.
func TestNoProduction(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	_, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ParentID: svc.ParentProduction}, svc.CreateOptions{})
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeNoProduction)
	if e := svc.AsError(err); len(e.Fields) != 1 || e.Fields[0].Pointer != "/parent_version_id" || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	parent := svc.ParentProduction // allowed: a later preview finds one
	if p, err := db.ChangeProject(t.Context(), "shop", svc.ProjectChange{PreviewParent: &parent}); err != nil || p.PreviewParent != parent {
		t.Errorf("%+v, %v", p, err)
	}
	_, _, err = db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", Preview: svc.PreviewRequest{Name: "feature"}}, svc.CreateOptions{})
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeNoProduction)
}

// TestPreviewParentProduction: each new preview begins with the production of then, but not that of
// a pull request; the second version of a name continues the first.
func TestPreviewParentProduction(t *testing.T) {
	t.Parallel()
	db := twoReady(t)
	parent := svc.ParentProduction
	if _, err := db.ChangeProject(t.Context(), "shop", svc.ProjectChange{PreviewParent: &parent}); err != nil {
		t.Fatal(err)
	}
	create := func(id, name, gitRef string) (svc.Version, error) {
		n := svc.NewVersion{Project: "shop", ID: id, GitRef: gitRef, Preview: svc.PreviewRequest{Name: name}}
		v, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{Forks: svc.ForkPolicy{PRRefs: []string{"pull/*"}}})
		return v, err
	}
	want := func(id, name, parent string) {
		t.Helper()
		v, err := create(id, name, "main")
		if err != nil || v.ParentID != parent {
			t.Fatalf("%s has the parent %q, want %q; %v", id, v.ParentID, parent, err)
		}
		registrytest.Move(t, db, v.Ref, registrytest.ToReady()...)
	}
	want("a1", "a", "v1")
	produce(t, db, "v1", "v2")
	want("a2", "a", "a1")
	want("b1", "b", "v2")
	_, err := create("c1", "c", "pull/1")
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeForkOfProduction)
}
