package registry_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C3.1] [C3.2]
func TestCreateProject(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	p := svc.Project{ID: "shop", GitRemote: "git@example.org:shop"}
	first, created, err := db.CreateProject(t.Context(), p)
	if err != nil || !created || first.ID != "shop" || first.GitRemote != p.GitRemote || first.ProdVersionID != "" {
		t.Fatalf("%+v, %v, %v", first, created, err)
	}
	if since := time.Since(first.CreatedAt); since < 0 || since > time.Minute || !first.UpdatedAt.Equal(first.CreatedAt) {
		t.Errorf("created %v, updated %v", first.CreatedAt, first.UpdatedAt)
	}
	again, created, err := db.CreateProject(t.Context(), p)
	if d := cmp.Diff(first, again); d != "" || created || err != nil {
		t.Errorf("again: %v, %v, -want +got:\n%s", created, err, d)
	}
	_, _, err = db.CreateProject(t.Context(), svc.Project{ID: "shop"})
	registrytest.WantError(t, err, svc.Conflict, "project_exists")
	read, err := db.Project(t.Context(), "shop")
	if d := cmp.Diff(first, read); d != "" || err != nil {
		t.Errorf("read: %v, -want +got:\n%s", err, d)
	}
	_, err = db.Project(t.Context(), "none")
	registrytest.WantError(t, err, svc.NotFound, "project_not_found")
}

// TestListProjects pages through projects while new ones are created: each of the
// first ones appears exactly once, newest first [D7].
// spec: [C12.1] [C12.4]
func TestListProjects(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	const n = 7
	for i := range n {
		registrytest.AddProject(t, db, fmt.Sprintf("p%d", i))
	}
	var got []string
	req := svc.PageRequest{Limit: 3}
	for i := 0; ; i++ {
		page, err := db.ListProjects(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Items {
			got = append(got, p.ID)
		}
		if page.Next == 0 {
			break
		}
		req.Before = page.Next
		registrytest.AddProject(t, db, fmt.Sprintf("new%d", i))
	}
	if d := cmp.Diff([]string{"p6", "p5", "p4", "p3", "p2", "p1", "p0"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// spec: [C12.2]
func TestPageSizes(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	page, err := db.ListProjects(t.Context(), svc.PageRequest{})
	if err != nil || page.Items == nil || len(page.Items) != 0 || page.Next != 0 {
		t.Errorf("empty: %+v, %v", page, err)
	}
	for i := range 51 {
		registrytest.AddProject(t, db, fmt.Sprintf("p%d", i))
	}
	for limit, want := range map[int]int{0: 50, 50: 50, 51: 51, 1000: 51} {
		page, err := db.ListProjects(t.Context(), svc.PageRequest{Limit: limit})
		if err != nil || len(page.Items) != want || (page.Next != 0) != (want < 51) {
			t.Errorf("limit %d: %d items, next %d, %v", limit, len(page.Items), page.Next, err)
		}
	}
}

// spec: [C8.8]
func TestSetProduction(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	for n := 1; n <= 2; n++ {
		registrytest.Add(t, db, "shop", ref("shop", n).Version, registrytest.ToReady()...)
	}
	registrytest.Add(t, db, "shop", "pending")
	registrytest.AddProject(t, db, "other")
	registrytest.Add(t, db, "other", "elsewhere", registrytest.ToReady()...)
	for _, tc := range []struct {
		project, expected, next string
		kind                    svc.Kind
		code                    string
		now                     string
	}{
		{"shop", "v1", "v2", svc.Precondition, "production_moved", ""},
		{"shop", "", "pending", svc.Conflict, "version_not_ready", ""},
		{"shop", "", "none", svc.NotFound, "version_not_found", ""},
		{"shop", "", "elsewhere", svc.NotFound, "version_not_found", ""},
		{"none", "", "v1", svc.NotFound, "project_not_found", ""},
		{"shop", "", "v1", "", "", "v1"},
		{"shop", "", "v1", "", "", "v1"}, // a resumed saga repeats its step
		{"shop", "", "v2", svc.Precondition, "production_moved", "v1"},
		{"shop", "v1", "v2", "", "", "v2"},
		{"shop", "v2", "v1", "", "", "v1"}, // and undoes it
		{"shop", "v1", "", "", "", ""},
	} {
		err := db.SetProduction(t.Context(), tc.project, tc.expected, tc.next)
		registrytest.WantError(t, err, tc.kind, tc.code)
		p, err := db.Project(t.Context(), "shop")
		if err != nil || p.ProdVersionID != tc.now {
			t.Errorf("after %+v: production is %q, %v", tc, p.ProdVersionID, err)
		}
	}
}

// TestProductionIsDerived: the records of versions follow the project's pointer, and
// exactly one version of a project is production.
// spec: [C3.3]
func TestProductionIsDerived(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "v2", registrytest.ToReady()...)
	expected := ""
	for _, next := range []string{"v1", "v2", "v1", ""} {
		before, err := db.Project(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.SetProduction(t.Context(), "shop", expected, next); err != nil {
			t.Fatal(err)
		}
		after, err := db.Project(t.Context(), "shop")
		if err != nil || !after.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("updated_at went from %v to %v, %v", before.UpdatedAt, after.UpdatedAt, err)
		}
		page, err := db.ListVersions(t.Context(), "shop", "", svc.PageRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Items {
			if v.Production != (v.Version == next) {
				t.Errorf("production is %q, and the record of %s has %v", next, v.Version, v.Production)
			}
		}
		expected = next
	}
}

// TestSetProductionRace: of many promotes from the same state one wins.
// spec: [C8.8]
func TestSetProductionRace(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	const n = 16
	for i := range n {
		registrytest.Add(t, db, "shop", ref("shop", i).Version, registrytest.ToReady()...)
	}
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			err := db.SetProduction(t.Context(), "shop", "", ref("shop", i).Version)
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, svc.Precondition) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d won", won.Load())
	}
}
