package registry_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// policy is the fork policy of these tests.
var policy = svc.ForkPolicy{PRRefs: []string{"pull/*"}, Production: svc.ProdForkScrub}

func fork(t *testing.T, db *registry.DB, n svc.NewVersion) (svc.Version, error) {
	t.Helper()
	n.Project = "shop"
	v, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{Forks: policy})
	return v, err
}

// TestForkRules: a create checks the current state of the parent.
// spec: [C2.21] [C13.7]
func TestForkRules(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.AddProject(t, db, "other")
	registrytest.Add(t, db, "other", "elsewhere", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "staging", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "pending")
	registrytest.Move(t, db, registrytest.Add(t, db, "shop", "archived", registrytest.ToReady()...).Ref, svc.TriggerArchive)
	registrytest.Move(t, db, registrytest.Add(t, db, "shop", "destroyed", registrytest.ToReady()...).Ref, svc.TriggerDestroy)
	registrytest.Add(t, db, "shop", "production", registrytest.ToReady()...)
	if err := db.SetProduction(t.Context(), "shop", "", "production"); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		parent, ref, code string
		scrub             bool
	}{
		"unknown":             {"unknown", "", "parent_not_found", false},
		"of another project":  {"elsewhere", "", "parent_not_found", false},
		"itself":              {"child-itself", "", "parent_not_found", false},
		"pending":             {"pending", "", "parent_not_ready", false},
		"destroyed":           {"destroyed", "", "parent_destroyed", false},
		"archived":            {"archived", "", "", false},
		"staging":             {"staging", "pull/1", "", false},
		"production":          {"production", "main", "", false},
		"production for a PR": {"production", "pull/1", "", true},
	} {
		v, err := fork(t, db, svc.NewVersion{ParentID: tc.parent, GitRef: tc.ref})
		registrytest.WantError(t, err, svc.Unprocessable, tc.code)
		if err == nil && (v.ParentID != tc.parent || (v.ScrubID != "") != tc.scrub || v.ForkTXID != "") {
			t.Errorf("%s: %+v", name, v)
		}
		if err == nil {
			continue
		}
		if e := svc.AsError(err); len(e.Fields) != 1 || e.Fields[0].Pointer != "/parent_version_id" || e.Fields[0].Code != tc.code || e.Hint == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if depth, err := db.QueueDepth(t.Context()); err != nil || depth != 10 {
		t.Errorf("%d jobs, %v: rejected creates left some", depth, err)
	}
}

// TestForkRulesBeforeQueue: a create that violates a rule gets the error of the rule,
// even if the queue is full.
func TestForkRulesBeforeQueue(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "v1")
	_, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ParentID: "v1"}, svc.CreateOptions{QueueMax: 1})
	registrytest.WantError(t, err, svc.Unprocessable, "parent_not_ready")
}

// TestRepeatedFork: a repeat is accepted although the parent has changed [D9].
func TestRepeatedFork(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy svc.ForkPolicy
		change func(*testing.T, *registry.DB)
	}{
		"destroyed": {policy, func(t *testing.T, db *registry.DB) { registrytest.Move(t, db, ref("shop", 1), svc.TriggerDestroy) }},
		"archived":  {policy, func(t *testing.T, db *registry.DB) { registrytest.Move(t, db, ref("shop", 1), svc.TriggerArchive) }},
		"production": {svc.ForkPolicy{PRRefs: policy.PRRefs}, func(t *testing.T, db *registry.DB) {
			if err := db.SetProduction(t.Context(), "shop", "", "v1"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := registrytest.Open(t, "shop")
			registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
			n := svc.NewVersion{Project: "shop", ID: "v2", ParentID: "v1", GitRef: "pull/1", Env: map[string]string{"A": "1"}}
			create := func(n svc.NewVersion, key string) (svc.Version, bool, error) {
				return db.CreateVersion(t.Context(), n, svc.CreateOptions{Forks: tc.policy, SubmitOptions: svc.SubmitOptions{IdempotencyKey: key, BodyHash: "h"}})
			}
			first, created, err := create(n, "k")
			if err != nil || !created {
				t.Fatal(created, err)
			}
			tc.change(t, db)
			for _, key := range []string{"", "k"} {
				again, created, err := create(n, key)
				if err != nil || created || again.Ref != first.Ref || again.ParentID != "v1" {
					t.Errorf("again with key %q: %+v, created %v, %v", key, again, created, err)
				}
			}
			other := n
			other.ParentID = ""
			_, _, err = create(other, "")
			registrytest.WantError(t, err, svc.Conflict, "version_exists")
		})
	}
}

// TestInheritedEnv: a child gets its parent's overrides, replaced by its own; later
// changes do not affect the other.
// spec: [C5.17] [C5.18]
func TestInheritedEnv(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	root, err := fork(t, db, svc.NewVersion{ID: "v1", Env: map[string]string{"A": "1", "B": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, root.Ref, registrytest.ToReady()...)
	asked := svc.NewVersion{ID: "v2", ParentID: "v1", Env: map[string]string{"B": "", "C": "3"}}
	for range 2 { // the requests are compared, not the merged overrides [D9]
		child, err := fork(t, db, asked)
		if d := cmp.Diff(map[string]string{"A": "1", "B": "", "C": "3"}, child.Env); d != "" || err != nil {
			t.Fatalf("%v, -want +got:\n%s", err, d)
		}
	}
	_, err = fork(t, db, svc.NewVersion{ID: "v2", ParentID: "v1", Env: map[string]string{"A": "1", "B": "", "C": "3"}})
	registrytest.WantError(t, err, svc.Conflict, "version_exists")
	parent, err := db.Version(t.Context(), root.Ref)
	if d := cmp.Diff(map[string]string{"A": "1", "B": "2"}, parent.Env); d != "" || err != nil {
		t.Errorf("the parent: %v, -want +got:\n%s", err, d)
	}
	registrytest.Move(t, db, ref("shop", 2), registrytest.ToReady()...)
	grandchild, err := fork(t, db, svc.NewVersion{ID: "v3", ParentID: "v2"})
	if d := cmp.Diff(map[string]string{"A": "1", "B": "", "C": "3"}, grandchild.Env); d != "" || err != nil {
		t.Errorf("the grandchild: %v, -want +got:\n%s", err, d)
	}
}

// TestInheritedEnvLimit: the limit of 64 keys is for the merged overrides.
func TestInheritedEnvLimit(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	full := map[string]string{}
	for i := range svc.MaxEnvKeys {
		full[fmt.Sprintf("K%d", i)] = "v"
	}
	root, err := fork(t, db, svc.NewVersion{ID: "v1", Env: full})
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, root.Ref, registrytest.ToReady()...)
	_, err = fork(t, db, svc.NewVersion{ID: "v2", ParentID: "v1", Env: map[string]string{"K0": "mine", "ONE_MORE": ""}})
	registrytest.WantError(t, err, svc.Unprocessable, "env_too_many_keys")
	if e := svc.AsError(err); len(e.Fields) != 1 || e.Fields[0].Pointer != "/env" || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	if _, err := fork(t, db, svc.NewVersion{ID: "v2", ParentID: "v1", Env: map[string]string{"K0": "mine"}}); err != nil {
		t.Error(err)
	}
}

func TestForkRecord(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	before := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	for range 2 {
		if err := errors.Join(db.SetForkTXID(t.Context(), before.Ref, "17"), db.MarkScrub(t.Context(), before.Ref)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := db.Version(t.Context(), before.Ref)
	if err != nil || v.ForkTXID != "17" || v.ScrubID != "v1" || !v.UpdatedAt.After(before.UpdatedAt) {
		t.Errorf("%+v, %v", v, err)
	}
	registrytest.WantError(t, db.SetForkTXID(t.Context(), before.Ref, "18"), svc.Conflict, "fork_mismatch")
	registrytest.WantError(t, db.SetForkTXID(t.Context(), ref("shop", 2), "17"), svc.NotFound, "version_not_found")
	registrytest.WantError(t, db.MarkScrub(t.Context(), ref("shop", 2)), svc.NotFound, "version_not_found")
	registrytest.WantError(t, db.MarkScrub(t.Context(), ref("none", 2)), svc.NotFound, "project_not_found")
}

// TestInheritedScrub: descendants inherit the scrub of an ancestor.
func TestInheritedScrub(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	if err := db.SetProduction(t.Context(), "shop", "", "v1"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ id, parent, ref, want string }{
		{"pr", "v1", "pull/1", "pr"},
		{"pr-again", "pr", "pull/1", "pr"},
		{"main", "pr-again", "main", "pr"},
		{"unrelated", "v1", "main", ""},
		{"", "v1", "pull/2", "<generated>"},
	} {
		v, err := fork(t, db, svc.NewVersion{ID: tc.id, ParentID: tc.parent, GitRef: tc.ref})
		if err != nil {
			t.Fatal(err)
		}
		if v.ScrubID != tc.want && (tc.want != "<generated>" || v.ScrubID != v.Version) {
			t.Errorf("%s: %q, want %q", v.Version, v.ScrubID, tc.want)
		}
		registrytest.Move(t, db, v.Ref, registrytest.ToReady()...)
	}
	if err := db.SetProduction(t.Context(), "shop", "v1", "pr"); err != nil {
		t.Fatal(err)
	}
	v, err := fork(t, db, svc.NewVersion{ID: "late", ParentID: "pr", GitRef: "pull/3"})
	if err != nil || v.ScrubID != "late" { // it was forked from production itself
		t.Errorf("%q, %v", v.ScrubID, err)
	}
}
