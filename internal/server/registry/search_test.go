package registry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSearchVersions: each filter, alone and combined, over pages.
func TestSearchVersions(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop", "blog")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	bad := registrytest.Add(t, db, "shop", "bad", svc.TriggerFetch)
	if _, err := db.Move(t.Context(), bad.Ref, svc.TriggerFail, svc.Change{Error: "fetching: x: The Disk"}); err != nil {
		t.Fatal(err)
	}
	registrytest.Add(t, db, "blog", "v1", registrytest.ToReady()...)
	labeled := svc.NewVersion{Project: "shop", ID: "pr", Labels: map[string]string{"pr": "7", "team": "a"}}
	if v, _, err := db.CreateVersion(t.Context(), labeled, svc.CreateOptions{}); err != nil || v.Labels["pr"] != "7" {
		t.Fatal(v, err)
	}
	if v, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: "pr", Labels: map[string]string{"x": "y"}}, svc.CreateOptions{}); err != nil || created || v.Labels["x"] != "" {
		t.Error("a repeated create changed the labels:", v.Labels, created, err)
	}
	registrytest.Move(t, db, registrytest.Add(t, db, "blog", "old").Ref, svc.TriggerDestroy)
	if _, err := db.SetPinned(t.Context(), svc.Ref{Project: "blog", Version: "v1"}, true); err != nil {
		t.Fatal(err)
	}
	yes, seven, eight := true, "7", "8"
	for name, tc := range map[string]struct {
		f    svc.VersionFilter
		want []string
	}{
		"all":             {svc.VersionFilter{}, []string{"shop/pr", "blog/v1", "shop/bad", "shop/v1"}},
		"label":           {svc.VersionFilter{Labels: []svc.LabelFilter{{Key: "pr", Value: &seven}, {Key: "team"}}}, []string{"shop/pr"}},
		"other label":     {svc.VersionFilter{Labels: []svc.LabelFilter{{Key: "pr", Value: &eight}}}, nil},
		"until":           {svc.VersionFilter{Until: time.Now().Add(-time.Hour)}, nil},
		"statuses":        {svc.VersionFilter{Statuses: []svc.Status{"failed", "destroyed"}}, []string{"blog/old", "shop/bad"}},
		"project, status": {svc.VersionFilter{Project: "shop", Statuses: []svc.Status{"ready"}}, []string{"shop/v1"}},
		"pinned":          {svc.VersionFilter{Pinned: &yes}, []string{"blog/v1"}},
		"text":            {svc.VersionFilter{Text: "the disk"}, []string{"shop/bad"}},
		"text of an id":   {svc.VersionFilter{Text: "shop/V"}, []string{"shop/v1"}},
		"since":           {svc.VersionFilter{Since: time.Now().Add(time.Hour)}, nil},
		"ref":             {svc.VersionFilter{GitRef: "main"}, nil},
		"parent":          {svc.VersionFilter{ParentID: "v1"}, nil},
	} {
		var got []string
		for at := (svc.PageRequest{Limit: 1}); ; {
			page, err := db.SearchVersions(t.Context(), tc.f, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range page.Items {
				got = append(got, v.String())
			}
			if at.Before = page.Next; at.Before == 0 {
				break
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestJobs: running deploys first, then the waiting ones with their positions.
func TestJobs(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	for _, id := range []string{"a", "b", "c"} {
		registrytest.Add(t, db, "shop", id)
	}
	if _, ok, err := db.ClaimJob(t.Context(), "me", time.Minute); err != nil || !ok {
		t.Fatal(ok, err)
	}
	jobs, err := db.Jobs(t.Context())
	if err != nil || len(jobs) != 3 || !jobs[0].Running || jobs[0].Ref.Version != "a" || jobs[0].Position != 0 || jobs[2].Ref.Version != "c" || jobs[2].Position != 2 {
		t.Errorf("got %+v, %v", jobs, err)
	}
}
