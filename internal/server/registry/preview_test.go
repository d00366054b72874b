package registry_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// named creates a version with the preview name feature and deploys it.
func named(t *testing.T, db *registry.DB, id string, keep int) svc.Version {
	t.Helper()
	n := svc.NewVersion{Project: "shop", ID: id, Preview: svc.PreviewRequest{Name: "feature", Keep: keep}}
	v, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return registrytest.Move(t, db, v.Ref, registrytest.ToReady()...)
}

func TestPreviewNamesAndIDs(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop", "other")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	named(t, db, "v2", 0)
	registrytest.Move(t, db, svc.Ref{Project: "shop", Version: "v2"}, svc.TriggerDestroy)
	for name, tc := range map[string]struct {
		n    svc.NewVersion
		code string
	}{
		"the id of a version":                 {svc.NewVersion{Project: "shop", Preview: svc.PreviewRequest{Name: "v1"}}, svc.CodePreviewNameTaken},
		"the id of a destroyed version":       {svc.NewVersion{Project: "shop", Preview: svc.PreviewRequest{Name: "v2"}}, svc.CodePreviewNameTaken},
		"an id that was a preview name":       {svc.NewVersion{Project: "shop", ID: "feature"}, svc.CodePreviewNameTaken},
		"the same name again":                 {svc.NewVersion{Project: "shop", Preview: svc.PreviewRequest{Name: "feature"}}, ""},
		"an id of another project as a name":  {svc.NewVersion{Project: "other", Preview: svc.PreviewRequest{Name: "v1"}}, ""},
		"a name of another project as an id":  {svc.NewVersion{Project: "other", ID: "feature"}, ""},
		"an id beside versions without names": {svc.NewVersion{Project: "shop", ID: "v3"}, ""},
	} {
		_, _, err := db.CreateVersion(t.Context(), tc.n, svc.CreateOptions{})
		if registrytest.WantError(t, err, svc.Conflict, tc.code); t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestPreviewParent checks the parent and the variables of versions with a preview name.
func TestPreviewParent(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	staging := svc.NewVersion{Project: "shop", ID: "staging", Env: map[string]string{"A": "staging", "B": "staging", "C": "staging"}}
	if _, _, err := db.CreateVersion(t.Context(), staging, svc.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, svc.Ref{Project: "shop", Version: "staging"}, registrytest.ToReady()...)
	parent, b, c := "staging", "previews", "previews"
	p, err := db.ChangeProject(t.Context(), "shop", svc.ProjectChange{PreviewParent: &parent, PreviewEnv: map[string]*string{"B": &b, "C": &c}})
	if err != nil || p.PreviewParent != "staging" || len(p.PreviewEnv) != 2 {
		t.Fatal(p, err)
	}
	for _, tc := range []struct {
		id, parent string
		preview    svc.PreviewRequest
		want       string
	}{
		{"f1", "", svc.PreviewRequest{Name: "feature"}, "staging"},
		{"f2", "", svc.PreviewRequest{Name: "feature"}, "f1"},
		{"f3", "", svc.PreviewRequest{Name: "feature", Fresh: true}, "staging"},
		{"f4", "f1", svc.PreviewRequest{Name: "feature"}, "f1"},
		{"plain", "", svc.PreviewRequest{}, ""},
	} {
		n := svc.NewVersion{Project: "shop", ID: tc.id, ParentID: tc.parent, Preview: tc.preview, Env: map[string]string{"C": "request"}}
		v, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{})
		if err != nil || v.ParentID != tc.want {
			t.Fatalf("%s: parent %q, %v; want %q", tc.id, v.ParentID, err, tc.want)
		}
		if env := map[string]string{"A": "staging", "B": "previews", "C": "request"}; tc.want != "" && !maps.Equal(v.Env, env) {
			t.Errorf("%s: env %v", tc.id, v.Env)
		}
		if again, created, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{}); err != nil || created || again.Ref != v.Ref {
			t.Errorf("a repeat of %s: %v %v", tc.id, created, err)
		}
		registrytest.Move(t, db, v.Ref, registrytest.ToReady()...)
	}
	if p, err = db.ChangeProject(t.Context(), "shop", svc.ProjectChange{PreviewEnv: map[string]*string{"B": nil}}); err != nil || p.PreviewEnv["C"] != "previews" || len(p.PreviewEnv) != 1 {
		t.Error(p, err)
	}
	missing := "nope"
	_, err = db.ChangeProject(t.Context(), "shop", svc.ProjectChange{PreviewParent: &missing})
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeParentNotFound)
	_, err = db.ChangeProject(t.Context(), "nope", svc.ProjectChange{})
	registrytest.WantError(t, err, svc.NotFound, svc.CodeProjectNotFound)
}

// TestPreviewVersions checks which version a name has, which are replaced, and the lists.
func TestPreviewVersions(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "prod", registrytest.ToReady()...)
	if err := db.SetProduction(t.Context(), "shop", "", "prod"); err != nil {
		t.Fatal(err)
	}
	current := func() string {
		t.Helper()
		id, err := db.PreviewVersion(t.Context(), "shop", "feature")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	replaced := func() (ids []string) {
		t.Helper()
		refs, err := db.Replaced(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refs {
			ids = append(ids, r.Version)
		}
		slices.Sort(ids)
		return ids
	}
	slow := svc.NewVersion{Project: "shop", ID: "slow", Preview: svc.PreviewRequest{Name: "feature"}}
	if _, _, err := db.CreateVersion(t.Context(), slow, svc.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := current(); got != "" {
		t.Errorf("before a version is ready: %q", got)
	}
	for _, id := range []string{"f1", "f2", "f3"} {
		named(t, db, id, 0)
	}
	registrytest.Move(t, db, svc.Ref{Project: "shop", Version: "slow"}, registrytest.ToReady()...) // older than f1
	if got := current(); got != "f3" {
		t.Errorf("the current version is %q", got)
	}
	if _, err := db.SetPinned(t.Context(), svc.Ref{Project: "shop", Version: "f1"}, true); err != nil {
		t.Fatal(err)
	}
	if got := replaced(); !slices.Equal(got, []string{"f2", "slow"}) {
		t.Errorf("replaced: %v", got)
	}
	named(t, db, "f4", 1)
	if got := replaced(); !slices.Equal(got, []string{"f2", "slow"}) {
		t.Errorf("replaced with one kept: %v", got)
	}
	registrytest.Move(t, db, svc.Ref{Project: "shop", Version: "f4"}, svc.TriggerDestroy)
	if got := current(); got != "f3" {
		t.Errorf("after the newest was destroyed: %q", got)
	}
	p, err := db.Preview(t.Context(), "shop", "feature")
	if err != nil || p.Current.Version != "f3" || p.Newest.Version != "f3" || p.Versions != 4 {
		t.Errorf("%+v %v", p, err)
	}
	page, err := db.ListPreviews(t.Context(), "shop", svc.PageRequest{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Next != 0 {
		t.Errorf("%+v %v", page, err)
	}
	_, err = db.Preview(t.Context(), "shop", "nope")
	registrytest.WantError(t, err, svc.NotFound, svc.CodePreviewNotFound)
	if all, err := db.VersionsOfPreview(t.Context(), "shop", "feature"); err != nil || len(all) != 4 || all[0].Version != "f3" {
		t.Errorf("%v %v", all, err)
	}
}
