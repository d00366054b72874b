package registry_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C4.1] [C4.4] [C4.5] [C5.3]
func TestVersionRecord(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	before := time.Now().Truncate(time.Millisecond)
	n := svc.NewVersion{
		Project: "shop", ID: "v1", GitRef: "main", GitSHA: "abc",
		Digest: "sha256:00", Env: map[string]string{"A": "1", "B": ""},
	}
	got, created, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	want := svc.Version{
		Ref: svc.Ref{Project: "shop", Version: "v1"}, GitRef: "main", GitSHA: "abc", Digest: "sha256:00",
		Env: n.Env, Status: svc.StatusPending,
	}
	ignore := cmpopts.IgnoreFields(svc.Version{}, "CreatedAt", "UpdatedAt", "ObjectNamespace")
	if d := cmp.Diff(want, got, ignore); d != "" {
		t.Errorf("created, -want +got:\n%s", d)
	}
	if got.CreatedAt.Before(before) || got.CreatedAt.After(time.Now()) || got.CreatedAt.Location() != time.UTC {
		t.Errorf("created_at = %v, want about %v in UTC", got.CreatedAt, before)
	}
	read, err := db.Version(t.Context(), want.Ref)
	if d := cmp.Diff(got, read); d != "" || err != nil {
		t.Errorf("read back: %v, -want +got:\n%s", err, d)
	}
	list, err := db.ListVersions(t.Context(), "shop", "", svc.PageRequest{})
	if d := cmp.Diff([]svc.Version{got}, list.Items); d != "" || err != nil {
		t.Errorf("listed: %v, -want +got:\n%s", err, d)
	}
}

func TestVersionNotFound(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	_, err := db.Version(t.Context(), ref("shop", 1))
	registrytest.WantError(t, err, svc.NotFound, "version_not_found")
	_, err = db.Version(t.Context(), ref("none", 1))
	registrytest.WantError(t, err, svc.NotFound, "project_not_found")
	_, err = db.ListVersions(t.Context(), "none", "", svc.PageRequest{})
	registrytest.WantError(t, err, svc.NotFound, "project_not_found")
}

// ids returns the ids of a list in order.
func ids(list []svc.Version) string {
	var names []string
	for _, v := range list {
		names = append(names, v.Version)
	}
	return strings.Join(names, " ")
}

// spec: [C13.2]
func TestListVersionsByStatus(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.AddProject(t, db, "other")
	registrytest.Add(t, db, "other", "v0", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "v2")
	registrytest.Add(t, db, "shop", "v3", registrytest.ToReady()...)
	registrytest.Move(t, db, registrytest.Add(t, db, "shop", "v4").Ref, svc.TriggerDestroy)
	registrytest.Move(t, db, registrytest.Add(t, db, "shop", "v5").Ref, svc.TriggerFail)
	for status, want := range map[svc.Status]string{
		"":                  "v5 v3 v2 v1", // destroyed ones are hidden [D22]
		svc.StatusReady:     "v3 v1",
		svc.StatusPending:   "v2",
		svc.StatusDestroyed: "v4",
		svc.StatusArchived:  "",
	} {
		page, err := db.ListVersions(t.Context(), "shop", status, svc.PageRequest{})
		if got := ids(page.Items); err != nil || got != want || page.Items == nil {
			t.Errorf("%q: %q, %v; want %q", status, got, err, want)
		}
	}
	counts, err := db.Counts(t.Context())
	want := map[svc.Status]int{svc.StatusReady: 3, svc.StatusPending: 1, svc.StatusDestroyed: 1, svc.StatusFailed: 1}
	if d := cmp.Diff(want, counts); d != "" || err != nil {
		t.Errorf("counts: %v, -want +got:\n%s", err, d)
	}
}

// TestListWhileRowsAreAdded pages through a project while other goroutines add
// versions: every version that existed at the start appears exactly once, in order,
// with its own overrides [D7].
// spec: [C13.1]
func TestListWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.AddProject(t, db, "other")
	const n = 25
	for i := range n {
		_, _, err := db.CreateVersion(t.Context(), svc.NewVersion{
			Project: "shop", ID: fmt.Sprintf("old-%02d", i), Env: map[string]string{"N": fmt.Sprint(i)},
		}, svc.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	req := svc.PageRequest{Limit: 4}
	for round := 0; ; round++ {
		page, err := db.ListVersions(t.Context(), "shop", svc.StatusPending, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Items {
			got = append(got, v.Version+" "+v.Env["N"])
		}
		if req.Before = page.Next; page.Next == 0 {
			break
		}
		var wg sync.WaitGroup
		for i := range 3 {
			for _, project := range []string{"shop", "other"} {
				wg.Go(func() {
					_, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: project, ID: fmt.Sprintf("new-%d-%d", round, i)}, svc.CreateOptions{})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
	}
	var want []string
	for i := n - 1; i >= 0; i-- {
		want = append(want, fmt.Sprintf("old-%02d %d", i, i))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestVersionsByStatus: production comes first, then the oldest [D25].
func TestVersionsByStatus(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	for _, p := range []string{"a", "b"} {
		registrytest.AddProject(t, db, p)
		for n := 1; n <= 3; n++ {
			registrytest.Add(t, db, p, fmt.Sprintf("%s%d", p, n), registrytest.ToReady()...)
		}
	}
	for project, v := range map[string]string{"a": "a2", "b": "b3"} {
		if err := db.SetProduction(t.Context(), project, "", v); err != nil {
			t.Fatal(err)
		}
	}
	registrytest.Move(t, db, svc.Ref{Project: "a", Version: "a2"}, svc.TriggerDrain)
	registrytest.Move(t, db, svc.Ref{Project: "b", Version: "b1"}, svc.TriggerArchive)
	for _, tc := range []struct {
		statuses []svc.Status
		want     string
	}{
		{[]svc.Status{svc.StatusReady, svc.StatusDraining}, "a2 b3 a1 a3 b2"},
		{[]svc.Status{svc.StatusArchived}, "b1"},
		{[]svc.Status{svc.StatusFailed}, ""},
		{nil, ""},
	} {
		all, err := db.VersionsByStatus(t.Context(), tc.statuses...)
		if got := ids(all); err != nil || got != tc.want {
			t.Errorf("%v: %q, %v; want %q", tc.statuses, got, err, tc.want)
		}
		for _, v := range all {
			if v.Production != (v.Version == "a2" || v.Version == "b3") || len(v.Timeline) != 4 {
				t.Errorf("%+v", v)
			}
		}
	}
}

func TestSetArtifact(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := registrytest.Add(t, db, "shop", "v1").Ref
	for _, tc := range []struct {
		digest string
		size   int64
		code   string
	}{
		{digestA, 10, ""},
		{digestA, 10, ""}, // a resumed fetch
		{digestB, 20, "digest_mismatch"},
	} {
		err := db.SetArtifact(t.Context(), r, tc.digest, tc.size)
		registrytest.WantError(t, err, svc.Conflict, tc.code)
		if v, err := db.Version(t.Context(), r); err != nil || v.Digest != digestA || v.SizeBytes != 10 {
			t.Errorf("%+v, %v", v, err)
		}
	}
	registrytest.WantError(t, db.SetArtifact(t.Context(), ref("shop", 2), digestA, 1), svc.NotFound, "version_not_found")
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := registrytest.Add(t, db, "shop", "v1").Ref
	registrytest.Add(t, db, "shop", "v2")
	for _, text := range []string{"one", "two", strings.Repeat("x", 5000)} {
		if err := db.AddWarning(t.Context(), r, text); err != nil {
			t.Fatal(err)
		}
	}
	v, err := db.Version(t.Context(), r)
	if d := cmp.Diff([]string{"one", "two", strings.Repeat("x", 2045) + "…"}, v.Warnings); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	registrytest.WantError(t, db.AddWarning(t.Context(), ref("shop", 3), "x"), svc.NotFound, "version_not_found")
	registrytest.WantError(t, db.AddWarning(t.Context(), ref("none", 3), "x"), svc.NotFound, "project_not_found")
}

// TestExplainStep: a step says what it waits for, until it ends.
func TestExplainStep(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := registrytest.Add(t, db, "shop", "v1").Ref
	explain := func(want string) {
		t.Helper()
		if err := db.ExplainStep(t.Context(), r, "waiting for a worker host"); err != nil {
			t.Fatal(err)
		}
		v, err := db.Version(t.Context(), r)
		if n := len(v.Timeline); err != nil || n > 0 && v.Timeline[n-1].Detail != want || n == 0 && want != "" {
			t.Errorf("%+v, %v", v.Timeline, err)
		}
	}
	explain("") // in no step
	if _, err := db.Move(t.Context(), r, svc.TriggerFetch, svc.Change{}); err != nil {
		t.Fatal(err)
	}
	explain("waiting for a worker host")
	v, err := db.Move(t.Context(), r, svc.TriggerBranch, svc.Change{Detail: "10 bytes"})
	if err != nil || v.Timeline[0].Detail != "10 bytes" || v.Timeline[1].Detail != "" {
		t.Errorf("%+v, %v", v.Timeline, err)
	}
}

func TestTouchRequests(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	v := registrytest.Add(t, db, "shop", "v1")
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct{ at, want time.Time }{
		{noon, noon}, {noon.Add(-time.Hour), noon}, {noon.Add(time.Hour), noon.Add(time.Hour)},
	} {
		err := db.TouchRequests(t.Context(), map[svc.Ref]time.Time{v.Ref: tc.at, ref("shop", 9): tc.at})
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Version(t.Context(), v.Ref)
		if err != nil || !got.LastRequestAt.Equal(tc.want) || !got.UpdatedAt.Equal(v.UpdatedAt) {
			t.Errorf("last request at %v, updated at %v, %v; want %v", got.LastRequestAt, got.UpdatedAt, err, tc.want)
		}
	}
	if err := db.TouchRequests(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
