package registry_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// stocked returns a registry with n pending versions of one project.
func stocked(b *testing.B, n int) *registry.DB {
	b.Helper()
	db, err := registry.Open(b.Context(), filepath.Join(b.TempDir(), "registry.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if _, _, err := db.CreateProject(b.Context(), svc.Project{ID: "p"}); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		create(b, db, fmt.Sprint("v", i))
	}
	return db
}

func create(b *testing.B, db *registry.DB, id string) svc.Version {
	b.Helper()
	n := svc.NewVersion{Project: "p", ID: id, Env: map[string]string{"A": "1"}}
	v, _, err := db.CreateVersion(b.Context(), n, svc.CreateOptions{QueueMax: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkDeploy measures the durable writes of a deploy: the create and five
// transitions.
func BenchmarkDeploy(b *testing.B) {
	db := stocked(b, 0)
	for i := 0; b.Loop(); i++ {
		v := create(b, db, fmt.Sprint("v", i))
		for _, tr := range registrytest.ToReady() {
			if _, err := db.Move(b.Context(), v.Ref, tr, svc.Change{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCreateAmongMany measures a create with a long queue, and the claim of its job
// behind jobs that wait for their bundles.
func BenchmarkCreateAmongMany(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		db := stocked(b, n)
		for range n {
			claimAndSnooze(b, db)
		}
		b.Run(fmt.Sprint("create/", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				create(b, db, fmt.Sprint("new", n, "-", i, "-", b.N))
			}
		})
		b.Run(fmt.Sprint("claim/", n), func(b *testing.B) {
			for b.Loop() {
				claimAndSnooze(b, db)
			}
		})
	}
}

func claimAndSnooze(b *testing.B, db *registry.DB) {
	b.Helper()
	job, ok, err := db.ClaimJob(b.Context(), "loop", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	if ok {
		err = db.SnoozeJob(b.Context(), job.ID, "loop", time.Now().Add(time.Hour))
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPoll measures reading one version.
func BenchmarkPoll(b *testing.B) {
	db := stocked(b, 2000)
	for b.Loop() {
		if _, err := db.Version(b.Context(), svc.Ref{Project: "p", Version: "v1000"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList measures a page of 50 from the middle.
func BenchmarkList(b *testing.B) {
	db := stocked(b, 2000)
	for b.Loop() {
		page, err := db.ListVersions(b.Context(), "p", "", svc.PageRequest{Before: 1000})
		if err != nil || len(page.Items) != 50 {
			b.Fatal(len(page.Items), err)
		}
	}
}
