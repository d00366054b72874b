package registry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestVersionRecord(t *testing.T) {
	t.Parallel()
	db := open(t)
	addProject(t, db, "shop")
	before := time.Now().Truncate(time.Millisecond)
	n := svc.NewVersion{
		Project: "shop", ID: "v1", GitRef: "main", GitSHA: "abc",
		Digest: "sha256:00", Env: map[string]string{"A": "1", "B": ""},
	}
	got, created, err := db.CreateVersion(t.Context(), n, registry.CreateOptions{})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	want := svc.Version{
		Ref: svc.Ref{Project: "shop", Version: "v1"}, GitRef: "main", GitSHA: "abc", Digest: "sha256:00",
		Env: n.Env, Status: svc.StatusPending,
	}
	ignore := cmpopts.IgnoreFields(svc.Version{}, "CreatedAt", "UpdatedAt")
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
