package registry_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/jobs/jobstest"
	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

// queue makes a registry with n jobs.
func queue(t *testing.T, n int) *registry.DB {
	t.Helper()
	db := open(t)
	addProject(t, db, jobstest.Ref(1).Project)
	for i := 1; i <= n; i++ {
		addVersion(t, db, jobstest.Ref(i).Project, jobstest.Ref(i).Version)
	}
	return db
}

func TestJobStore(t *testing.T) {
	t.Parallel()
	jobstest.Store(t, func(t *testing.T, n int) jobs.Store { return queue(t, n) })
}

// TestWorker runs the real loops on the real queue, with versions coming in
// meanwhile: every version is deployed exactly once.
func TestWorker(t *testing.T) {
	t.Parallel()
	const n = 40
	db := queue(t, n/2)
	var mu sync.Mutex
	runs := map[svc.Ref]int{}
	all := make(chan struct{})
	w, err := jobs.New(jobs.Config{
		Store: db, Loops: 4, Logger: slog.New(slog.DiscardHandler),
		Run: func(_ context.Context, j jobs.Job) error {
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
		addVersion(t, db, "p", jobstest.Ref(i).Version)
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
