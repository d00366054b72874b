package registry_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestWorkerName: a project keeps the name that its id was made from, and versions of another one are
// refused until the project is renamed or deleted.
func TestWorkerName(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "my-app")
	create := func(name string, renamed bool, want string) {
		t.Helper()
		_, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "my-app", WorkerName: name, WorkerRenamed: renamed}, svc.CreateOptions{})
		if svc.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	create("", false, "")
	create("my_app", false, "")
	create("my-app", false, svc.CodeProjectOfOther)
	create("my_app", false, "")
	create("", false, "")
	create("my-app", true, "")
	create("my_app", false, svc.CodeProjectOfOther)
	create("my-app", false, "")
}
