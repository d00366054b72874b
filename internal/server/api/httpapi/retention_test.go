package httpapi_test

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// ids returns the versions of results: "id", "id:code" for those left out, "id?" of a dry run.
func bulkIDs(items []api.BulkResult) (ids []string) {
	for _, r := range items {
		switch {
		case r.Code != "":
			ids = append(ids, r.VersionID+":"+r.Code)
		case !r.Done:
			ids = append(ids, r.VersionID+"?")
		default:
			ids = append(ids, r.VersionID)
		}
	}
	return ids
}

// TestBulk: a filter selects, a dry run changes nothing, and production and pinned
// versions stay.
func TestBulk(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, id := range []string{"prod", "pinned", "pr-1", "pr-2", "other"} {
		labels := map[string]string{"pr": "7"}
		if id == "other" {
			labels = nil
		}
		h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: id, Labels: labels}}).want(202)
		h.deploy(svc.Ref{Project: "shop", Version: id})
	}
	if err := h.db.SetProduction(t.Context(), "shop", "", "prod"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.SetPinned(t.Context(), svc.Ref{Project: "shop", Version: "pinned"}, true); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seven := "7"
	filter := api.BulkVersions{Labels: map[string]*string{"pr": &seven}, DryRun: true}
	kept := []string{"pinned:version_pinned", "prod:version_is_production"}
	dry, err := c.ArchiveVersions(t.Context(), "shop", filter)
	if want := append([]string{"pr-2?", "pr-1?"}, kept...); err != nil || !slices.Equal(bulkIDs(dry.Items), want) {
		t.Errorf("got %+v, %v, want %q", dry, err, want)
	}
	filter.DryRun = false
	archived, err := c.ArchiveVersions(t.Context(), "shop", filter)
	if want := append([]string{"pr-2", "pr-1"}, kept...); err != nil || !slices.Equal(bulkIDs(archived.Items), want) || archived.Items[0].Status != "archived" {
		t.Errorf("got %+v, %v, want %q", archived, err, want)
	}
	if first, second := archived.Items[0].Waiting, archived.Items[1].Waiting; first != nil || second == nil || second.Messages != 3 {
		t.Errorf("the work that waits: %v, %v", first, second)
	}
	destroyed, err := c.DestroyVersions(t.Context(), "shop", api.BulkVersions{Status: []api.VersionStatus{"archived"}, Labels: map[string]*string{"pr": nil}})
	if err != nil || !slices.Equal(bulkIDs(destroyed.Items), []string{"pr-2", "pr-1"}) || destroyed.Items[0].Status != "destroyed" {
		t.Errorf("got %+v, %v", destroyed, err)
	}
	young, err := c.DestroyVersions(t.Context(), "shop", api.BulkVersions{OlderThan: "1d12h"})
	if err != nil || len(young.Items) != 0 {
		t.Errorf("got %+v, %v", young, err)
	}
	const path = "/v1/projects/shop/versions:destroy"
	for body, code := range map[string]string{
		`{}`: "invalid_parameter", `{"dry_run":true}`: "invalid_parameter", `{"older_than":"soon"}`: "invalid_parameter",
		`{"status":["destroyed"]}`: "invalid_status", `{"size":1}`: "unknown_field",
	} {
		h.do(request{method: "POST", path: path, body: body, outside: true}).wantProblem(400, code)
	}
	h.do(request{method: "POST", path: "/v1/projects/none/versions:archive", body: `{"ref":"x"}`}).wantProblem(404, "project_not_found")
}

// TestBulkRef: a git ref selects exactly its versions in one project, alone and with an age.
func TestBulkRef(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, project := range []string{"shop", "blog"} {
		h.project(project)
		for id, ref := range map[string]string{"a": "pull/7", "b": "pull/7", "c": "pull/77", "d": ""} {
			h.do(request{method: "POST", path: "/v1/projects/" + project + "/versions", token: deployToken, body: api.CreateVersion{ID: id, GitRef: ref}}).want(202)
			h.deploy(svc.Ref{Project: project, Version: id})
		}
	}
	bulk := func(verb string, b api.BulkVersions) []string {
		t.Helper()
		got := decode[api.BulkReport](h.do(request{method: "POST", path: "/v1/projects/shop/versions:" + verb, body: b}).want(200))
		ids := bulkIDs(got.Items)
		slices.Sort(ids)
		return ids
	}
	for _, tc := range []struct {
		verb string
		b    api.BulkVersions
		want []string
	}{
		{"archive", api.BulkVersions{Ref: "pull"}, nil},
		{"archive", api.BulkVersions{Ref: "pull/7", OlderThan: "1h"}, nil},
		{"archive", api.BulkVersions{Ref: "pull/7", DryRun: true}, []string{"a?", "b?"}},
		{"archive", api.BulkVersions{Ref: "pull/7"}, []string{"a", "b"}},
		{"archive", api.BulkVersions{Ref: "pull/7"}, []string{"a:version_not_ready", "b:version_not_ready"}},
		{"destroy", api.BulkVersions{Ref: "pull/7"}, []string{"a", "b"}},
		{"destroy", api.BulkVersions{Ref: "pull/77", Status: []api.VersionStatus{"archived"}}, nil},
		{"destroy", api.BulkVersions{Ref: "pull/77"}, []string{"c"}},
	} {
		if got := bulk(tc.verb, tc.b); !slices.Equal(got, tc.want) {
			t.Errorf("%s of %+v: %q, want %q", tc.verb, tc.b, got, tc.want)
		}
	}
	svctest.Eventually(t, "the last version to be older than a millisecond", func() bool {
		return slices.Equal(bulk("destroy", api.BulkVersions{OlderThan: "1ms", DryRun: true}), []string{"d?"})
	})
	for _, id := range []string{"a", "b", "c", "d"} {
		if v := registrytest.Get(t, h.db, svc.Ref{Project: "blog", Version: id}); v.Status != svc.StatusReady {
			t.Errorf("%s of the other project is %s", id, v.Status)
		}
	}
}

// TestDeleteProject: the production is confirmed, all versions are destroyed, and a
// project of the same id begins empty.
func TestDeleteProject(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	h.ready("shop", "v2")
	if err := h.db.SetProduction(t.Context(), "shop", "", "v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.SetPinned(t.Context(), svc.Ref{Project: "shop", Version: "v2"}, true); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "v2"} {
		if _, err := c.DeleteProject(t.Context(), "shop", wrong); client.CodeOf(err) != "production_moved" {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	gone, err := c.DeleteProject(t.Context(), "shop", "v1")
	if err != nil || gone.Project.ProdVersionID != "v1" || !slices.Equal(bulkIDs(gone.Items), []string{"v2", "v1"}) {
		t.Errorf("got %+v, %v", gone, err)
	}
	for _, path := range []string{"/v1/projects/shop", "/v1/projects/shop/versions"} {
		h.do(request{method: "GET", path: path}).wantProblem(404, "project_not_found")
	}
	if _, err := c.DeleteProject(t.Context(), "shop", ""); client.CodeOf(err) != "project_not_found" {
		t.Errorf("got %v", err)
	}
	if list := decode[api.ProjectPage](h.do(request{method: "GET", path: "/v1/projects"}).want(200)); len(list.Items) != 0 {
		t.Errorf("got %+v", list)
	}
	h.project("shop")
	if list := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/projects/shop/versions"}).want(200)); len(list.Items) != 0 {
		t.Errorf("got %+v", list)
	}
	h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: "v1"}}).wantProblem(409, "version_exists")
	events := decode[api.EventPage](h.do(request{method: "GET", path: "/v1/events?tail=100&types=project"}).want(200))
	var kinds []string
	for _, e := range events.Items {
		kinds = append(kinds, e.Type)
	}
	if want := []string{"project.created", "project.production", "project.deleted", "project.production", "project.created"}; len(kinds) != 5 || kinds[4] != want[4] {
		t.Errorf("got %q", kinds)
	}
}

// TestRetention: what the settings do not keep, in a dry run and for good.
func TestRetention(t *testing.T) {
	t.Parallel()
	h := start(t) // keeps one failed version
	h.project("shop")
	for _, id := range []string{"a", "b", "pinned"} {
		h.version("shop", id)
		ref := svc.Ref{Project: "shop", Version: id}
		if _, err := h.db.Move(t.Context(), ref, svc.TriggerFetch, svc.Change{}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.db.Move(t.Context(), ref, svc.TriggerFail, svc.Change{Error: "fetching: x: y"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.db.SetPinned(t.Context(), svc.Ref{Project: "shop", Version: "pinned"}, true); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	due, err := c.Retention(t.Context())
	if err != nil || !due.DryRun || due.KeepFailed.Count != 1 || len(due.Items) != 1 {
		t.Fatalf("got %+v, %v", due, err)
	}
	done, err := c.ApplyRetention(t.Context())
	if err != nil || done.DryRun || !slices.Equal(bulkIDs(done.Items), []string{due.Items[0].VersionID}) || done.Items[0].Status != "destroyed" {
		t.Errorf("got %+v, %v", done, err)
	}
	if again, err := c.ApplyRetention(t.Context()); err != nil || len(again.Items) != 0 {
		t.Errorf("got %+v, %v", again, err)
	}
}
