package registrytest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

// Open opens a new registry with these projects and closes it when the test ends.
func Open(t testing.TB, projects ...string) *registry.DB {
	t.Helper()
	db := OpenAt(t, filepath.Join(t.TempDir(), "registry.db"))
	for _, id := range projects {
		AddProject(t, db, id)
	}
	return db
}

// OpenAt opens the registry at path and closes it when the test ends.
func OpenAt(t testing.TB, path string) *registry.DB {
	t.Helper()
	db, err := registry.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// AddProject creates a project.
func AddProject(t testing.TB, db *registry.DB, id string) {
	t.Helper()
	if _, _, err := db.CreateProject(t.Context(), svc.Project{ID: id}); err != nil {
		t.Fatal(err)
	}
}

// Add creates a version, which must not exist, and applies triggers to it.
func Add(t testing.TB, db *registry.DB, project, id string, triggers ...svc.Trigger) svc.Version {
	t.Helper()
	v, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: project, ID: id}, svc.CreateOptions{})
	if err != nil || !created {
		t.Fatalf("creating %s/%s: created %v, %v", project, id, created, err)
	}
	if len(triggers) == 0 {
		return v
	}
	return Move(t, db, v.Ref, triggers...)
}

// ToReady returns the triggers of a successful deploy.
func ToReady() []svc.Trigger {
	return []svc.Trigger{svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy, svc.TriggerActivate}
}

// Move applies triggers to a version and returns its record.
func Move(t testing.TB, db *registry.DB, ref svc.Ref, triggers ...svc.Trigger) (v svc.Version) {
	t.Helper()
	for _, trigger := range triggers {
		var err error
		if v, err = db.Move(t.Context(), ref, trigger, svc.Change{}); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// Get returns a version.
func Get(t testing.TB, db *registry.DB, ref svc.Ref) svc.Version {
	t.Helper()
	v, err := db.Version(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// WantError checks the kind and the code of an error; code "" means no error.
func WantError(t testing.TB, err error, kind svc.Kind, code string) {
	t.Helper()
	switch {
	case code == "" && err != nil:
		t.Errorf("err = %v, want none", err)
	case code == "":
	case !errors.Is(err, kind) || svc.CodeOf(err) != code:
		t.Errorf("err = %v, want %s, %s", err, kind, code)
	}
}
