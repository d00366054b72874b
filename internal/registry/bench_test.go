package registry_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

// stocked is a registry with n pending versions of one project.
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
	v, _, err := db.CreateVersion(b.Context(), n, registry.CreateOptions{QueueMax: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkDeploy is what a deploy costs in the registry: accepting it and its
// five moves, all of them durable.
func BenchmarkDeploy(b *testing.B) {
	db := stocked(b, 0)
	for i := 0; b.Loop(); i++ {
		v := create(b, db, fmt.Sprint("v", i))
		for _, tr := range toReady {
			if _, err := db.Move(b.Context(), v.Ref, tr, svc.Change{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCreateAmongMany accepts a version when the queue is long.
func BenchmarkCreateAmongMany(b *testing.B) {
	db := stocked(b, 2000)
	for i := 0; b.Loop(); i++ {
		create(b, db, fmt.Sprint("new", i))
	}
}

// BenchmarkPoll is one GET of a version, as every waiting client makes it.
func BenchmarkPoll(b *testing.B) {
	db := stocked(b, 2000)
	for b.Loop() {
		if _, err := db.Version(b.Context(), svc.Ref{Project: "p", Version: "v1000"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is a page of 50 from the middle.
func BenchmarkList(b *testing.B) {
	db := stocked(b, 2000)
	for b.Loop() {
		page, err := db.ListVersions(b.Context(), "p", "", svc.PageRequest{Before: 1000})
		if err != nil || len(page.Items) != 50 {
			b.Fatal(len(page.Items), err)
		}
	}
}
