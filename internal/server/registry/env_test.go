package registry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSetEnv: a change replaces the whole set and moves updated_at.
// spec: [C5.21]
func TestSetEnv(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	for range 2 { // only the first has an effect
		if err := db.SetBundleEnv(t.Context(), r.Ref, map[string]string{"A": "bundle"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SetBundleEnv(t.Context(), r.Ref, nil); err != nil {
		t.Fatal(err)
	}
	before := registrytest.Get(t, db, r.Ref)
	last, err := db.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range []map[string]string{{"A": "1", "B": "2"}, {"B": "3"}, {}} {
		v, err := db.SetEnv(t.Context(), r.Ref, env)
		if err != nil || cmp.Diff(env, v.Env) != "" || !v.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("%v, updated %s after %s, %v", v.Env, v.UpdatedAt, before.UpdatedAt, err)
		}
		before = v
		e, err := db.Environment(t.Context(), r.Ref)
		want := svc.Environment{Ref: r.Ref, Bundle: map[string]string{"A": "bundle"}, Overrides: env}
		if diff := cmp.Diff(want, e); err != nil || diff != "" {
			t.Errorf("%v, -want +got:\n%s", err, diff)
		}
	}
	if got, want := history(t, db, last), []string{"env.changed v1", "env.changed v1", "env.changed v1"}; cmp.Diff(want, got) != "" {
		t.Errorf("events: %v", got)
	}
}

// TestEnvOfChild: parent and child change independently after the copy.
// spec: [C5.17] [C5.19]
func TestEnvOfChild(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	parent := registrytest.Add(t, db, "shop", "parent", registrytest.ToReady()...).Ref
	set := func(r svc.Ref, value string) {
		t.Helper()
		if _, err := db.SetEnv(t.Context(), r, map[string]string{"A": value}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(r svc.Ref, value string) {
		t.Helper()
		if got := registrytest.Get(t, db, r).Env["A"]; got != value {
			t.Errorf("%s has %q, want %q", r, got, value)
		}
	}
	set(parent, "first")
	child, err := fork(t, db, svc.NewVersion{ID: "child", ParentID: "parent"})
	if err != nil {
		t.Fatal(err)
	}
	set(parent, "second")
	expect(child.Ref, "first")
	set(child.Ref, "third")
	expect(parent, "second")
}

// TestSetEnvStatuses: a status in which the worker may have read the variables, or
// will never read them, rejects a change.
func TestSetEnvStatuses(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	all := registrytest.ToReady()
	for id, tc := range map[string]struct {
		triggers []svc.Trigger
		code     string
	}{
		"pending":   {nil, ""},
		"fetching":  {all[:1], ""},
		"branching": {all[:2], ""},
		"preparing": {all[:3], "version_not_ready"},
		"deploying": {all[:4], "version_not_ready"},
		"ready":     {all, ""},
		"draining":  {append(registrytest.ToReady(), svc.TriggerDrain), ""},
		"archived":  {append(registrytest.ToReady(), svc.TriggerArchive), ""},
		"failed":    {[]svc.Trigger{svc.TriggerFetch, svc.TriggerFail}, "version_failed"},
		"destroyed": {[]svc.Trigger{svc.TriggerDestroy}, "version_destroyed"},
	} {
		r := registrytest.Add(t, db, "shop", id, tc.triggers...).Ref
		if _, err := db.SetEnv(t.Context(), r, map[string]string{"A": "1"}); svc.CodeOf(err) != tc.code && (err != nil || tc.code != "") {
			t.Errorf("%s: %v, want %q", id, err, tc.code)
		}
	}
	_, err := db.Environment(t.Context(), svc.Ref{Project: "shop", Version: "destroyed"})
	registrytest.WantError(t, err, svc.Gone, "version_destroyed")
	_, err = db.Environment(t.Context(), svc.Ref{Project: "shop", Version: "none"})
	registrytest.WantError(t, err, svc.NotFound, "version_not_found")
}
