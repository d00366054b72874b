package bindingtest

import (
	"log/slog"
	"maps"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/svc"
)

// Fork opens a child of the version that OpenVolumes has opened in dir, cut now, and closes it when
// the test ends.
func Fork(t testing.TB, dir, child string) *dataplane.Volumes {
	t.Helper()
	cuts, _, err := machineOf(dir).volumes.Cut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fork(t, dir, child, cuts)
}

// Release is Fork for a child that a release makes: it begins with the databases that belong to its
// parent alone, too.
func Release(t testing.TB, dir, child string) *dataplane.Volumes {
	t.Helper()
	sealed, err := machineOf(dir).volumes.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer sealed.Open()
	cuts, _, err := sealed.Ship(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fork(t, dir, child, cuts)
}

func fork(t testing.TB, dir, child string, cuts map[string]branch.Cut) *dataplane.Volumes {
	t.Helper()
	bucket, logger := &machineOf(dir).bucket, slog.New(slog.NewTextHandler(t.Output(), nil))
	branches, err := branch.New(branch.Config{Data: bucket, Logger: logger})
	parent, ref := svc.Ref{Project: "p", Version: "v1"}, svc.Ref{Project: "p", Version: child}
	if err == nil {
		_, err = branches.Fork(t.Context(), branch.Fork{Parent: parent, Child: ref, ID: child, Cuts: maps.Clone(cuts)})
	}
	if err != nil {
		t.Fatal(err)
	}
	v, err := dataplane.Open(t.Context(), dataplane.Config{
		Ref: ref, Parent: parent.Version, Dir: t.TempDir(), Bucket: bucket, Branches: branches,
		Owner: svc.Owner{Node: "test", Session: "test"}, Logger: logger, Window: busyWindow,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Errorf("closing the volumes: %v", err)
		}
	})
	return v
}
