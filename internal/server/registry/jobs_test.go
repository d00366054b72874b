package registry_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue/deployqueuetest"
	"github.com/svcctl/svcctl/internal/svc"
)

// queue returns a registry with n jobs.
func queue(t *testing.T, n int) *registry.DB {
	t.Helper()
	db := registrytest.Open(t)
	registrytest.AddProject(t, db, deployqueuetest.Ref(1).Project)
	for i := 1; i <= n; i++ {
		registrytest.Add(t, db, deployqueuetest.Ref(i).Project, deployqueuetest.Ref(i).Version)
	}
	return db
}

func TestJobStore(t *testing.T) {
	t.Parallel()
	deployqueuetest.Store(t, func(t *testing.T, n int) deployqueue.Store { return queue(t, n) })
}

// TestWorker runs a deployqueue.Worker on the registry while versions are created:
// every version is deployed exactly once.
func TestWorker(t *testing.T) {
	t.Parallel()
	const n = 40
	db := queue(t, n/2)
	var mu sync.Mutex
	runs := map[svc.Ref]int{}
	all := make(chan struct{})
	w, err := deployqueue.New(deployqueue.Config{
		Store: db, Loops: 4, Logger: slog.New(slog.DiscardHandler),
		Run: func(_ context.Context, j deployqueue.Job) error {
			mu.Lock()
			defer mu.Unlock()
			if runs[j.Ref]++; len(runs) == n {
				close(all)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := n/2 + 1; i <= n; i++ {
		registrytest.Add(t, db, "p", deployqueuetest.Ref(i).Version)
		w.Notify()
	}
	<-all
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for ref, times := range runs {
		if times != 1 {
			t.Errorf("%s ran %d times", ref, times)
		}
	}
	if depth, err := db.QueueDepth(t.Context()); err != nil || depth != 0 {
		t.Errorf("%d jobs left, %v", depth, err)
	}
}
