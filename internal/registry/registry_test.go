package registry_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

// open gives an empty registry of its own to a test.
func open(t *testing.T) *registry.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "registry.db"))
}

func openAt(t *testing.T, path string) *registry.DB {
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

func addProject(t *testing.T, db *registry.DB, id string) {
	t.Helper()
	if _, _, err := db.CreateProject(t.Context(), svc.Project{ID: id}); err != nil {
		t.Fatal(err)
	}
}

// addVersion makes a pending version.
func addVersion(t *testing.T, db *registry.DB, project, id string) svc.Version {
	t.Helper()
	v, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: project, ID: id}, registry.CreateOptions{})
	if err != nil || !created {
		t.Fatalf("creating %s/%s: created %v, %v", project, id, created, err)
	}
	return v
}

// toReady lists the triggers of a deploy that succeeds [D15].
var toReady = []svc.Trigger{svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy, svc.TriggerActivate}

func move(t *testing.T, db *registry.DB, ref svc.Ref, triggers ...svc.Trigger) (v svc.Version) {
	t.Helper()
	for _, tr := range triggers {
		var err error
		if v, err = db.Move(t.Context(), ref, tr, svc.Change{}); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// addReady makes a ready version.
func addReady(t *testing.T, db *registry.DB, project, id string) svc.Version {
	t.Helper()
	return move(t, db, addVersion(t, db, project, id).Ref, toReady...)
}

// wantError checks kind and code; a "" code wants no error.
func wantError(t *testing.T, err error, kind svc.Kind, code string) {
	t.Helper()
	switch {
	case code == "" && err != nil:
		t.Errorf("err = %v, want none", err)
	case code == "":
	case !errors.Is(err, kind) || svc.CodeOf(err) != code:
		t.Errorf("err = %v, want %s, %s", err, kind, code)
	}
}

func ref(project string, n int) svc.Ref {
	return svc.Ref{Project: project, Version: fmt.Sprintf("v%d", n)}
}
