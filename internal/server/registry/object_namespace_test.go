package registry_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

func update(t *testing.T, path, statement string) {
	t.Helper()
	if err := raw(t, path).InTx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), statement)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func projectNamespace(t *testing.T, db *registry.DB, id string) svc.ObjectNamespace {
	t.Helper()
	p, err := db.Project(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p.ObjectNamespace
}

func child(t *testing.T, db *registry.DB, id, parent string) svc.Version {
	t.Helper()
	v, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: id, ParentID: parent}, svc.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestObjectNamespaces: each project has a namespace of its own, also one that is created again. A root
// takes that of its project; a child and a release take that of the version whose data they
// begin with. Nothing changes it later. A copy of the registry has it.
func TestObjectNamespaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	db := registrytest.OpenAt(t, path)
	registrytest.AddProject(t, db, "shop")
	registrytest.AddProject(t, db, "other")
	shop, other := projectNamespace(t, db, "shop"), projectNamespace(t, db, "other")
	if len(shop) < 20 || len(other) < 20 || shop == other {
		t.Fatalf("namespaces %q and %q", shop, other)
	}
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	update(t, path, `UPDATE versions SET object_namespace = 'another' WHERE id = 'v1'`) // as if its data came from elsewhere
	produce(t, db, "", "v1")
	registrytest.Add(t, db, "shop", "root", registrytest.ToReady()...)
	child(t, db, "child", "v1")
	child(t, db, "child-of-root", "root")
	n := svc.NewVersion{Project: "shop", ID: "released", ParentID: "v1", ReleasedFrom: "root"}
	if _, err := db.CreateRelease(t.Context(), n, svc.ForkPolicy{}, &svc.Promotion{ID: "op-1", Project: "shop", Previous: "v1", Status: svc.PromotionRunning}); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, svc.Ref{Project: "shop", Version: "root"}, svc.TriggerArchive, svc.TriggerWake, svc.TriggerActivate)
	saved, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "registry.db")
	if err := os.WriteFile(copied, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	for where, db := range map[string]*registry.DB{"the registry": db, "its copy": registrytest.OpenAt(t, copied)} {
		for id, want := range map[string]svc.ObjectNamespace{"v1": "another", "child": "another", "released": "another", "root": shop, "child-of-root": shop} {
			if v := registrytest.Get(t, db, svc.Ref{Project: "shop", Version: id}); v.ObjectNamespace != want {
				t.Errorf("%s: %s has the namespace %q, want %q", where, id, v.ObjectNamespace, want)
			}
		}
		if got := projectNamespace(t, db, "other"); got != other {
			t.Errorf("%s: %q, want %q", where, got, other)
		}
	}
	if _, err := db.DeleteProject(t.Context(), "other", ""); err != nil {
		t.Fatal(err)
	}
	registrytest.AddProject(t, db, "other")
	if again := projectNamespace(t, db, "other"); again == other || again == "" {
		t.Errorf("the project that is created again has the namespace %q, and had %q", again, other)
	}
}
