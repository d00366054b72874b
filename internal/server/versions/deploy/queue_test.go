package deploy_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// meter counts running deploys and reports each attempt that ends.
type meter struct {
	mu            sync.Mutex
	running, most int
	attempts      map[svc.Ref]int // the highest of each version
	ended         chan svc.Ref    // attempts, snoozes included
}

func (m *meter) enter(j deployqueue.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
	m.most = max(m.most, m.running)
	m.attempts[j.Ref] = max(m.attempts[j.Ref], j.Attempt)
}

func (m *meter) leave(j deployqueue.Job) {
	m.mu.Lock()
	m.running--
	m.mu.Unlock()
	m.ended <- j.Ref
}

// queue runs the jobs of the registry with a deployqueue.Worker.
func (d *daemon) queue(t *testing.T, loops int) (*deployqueue.Worker, *meter) {
	t.Helper()
	m := &meter{attempts: map[svc.Ref]int{}, ended: make(chan svc.Ref, 100)}
	worker, err := deployqueue.New(deployqueue.Config{
		Store: d.world, Loops: loops, Logger: slog.New(slog.DiscardHandler),
		Run: func(ctx context.Context, j deployqueue.Job) error {
			m.enter(j)
			defer m.leave(j)
			return d.Run(ctx, j)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return worker, m
}

// after waits for the given number of attempts to end.
func (m *meter) after(attempts int) {
	for range attempts {
		<-m.ended
	}
}

// TestOneWorker: with one worker, deploys whose uploads arrive together run one
// after the other, and a version that waits for its upload holds no worker.
// spec: [C7.23]
func TestOneWorker(t *testing.T) {
	t.Parallel()
	const n = 8
	w := newWorld(t)
	d := w.start(t, nil)
	var late []svc.Ref
	for i := range n {
		late = append(late, d.submit(t, svc.NewVersion{ID: fmt.Sprintf("late%d", i)}))
	}
	worker, m := d.queue(t, 1)
	m.after(n)
	prompt := ref("prompt")
	w.upload(t, prompt, hello(t))
	d.submit(t, svc.NewVersion{ID: "prompt"})
	worker.Notify()
	m.after(1)
	if v := registrytest.Get(t, w.DB, prompt); v.Status != svc.StatusReady {
		t.Errorf("while others wait, %s is %s %q", prompt, v.Status, v.Error)
	}
	for _, r := range late {
		w.upload(t, r, hello(t))
	}
	for _, r := range late {
		d.ArtifactArrived(r)
	}
	m.after(n)
	for _, r := range late {
		if v := registrytest.Get(t, w.DB, r); v.Status != svc.StatusReady || m.attempts[r] != 1 {
			t.Errorf("%s is %s %q after attempt %d", r, v.Status, v.Error, m.attempts[r])
		}
	}
	if err := worker.Stop(t.Context()); err != nil || m.most != 1 {
		t.Errorf("Stop: %v; up to %d deploys ran concurrently", err, m.most)
	}
}

// TestRestartWhileWaiting: the next daemon continues to wait for the bundle, and
// the deploy is still in its first attempt.
func TestRestartWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.start(t, nil)
	v1 := before.submit(t, svc.NewVersion{ID: "v1"})
	for range deploy.MaxAttempts + 1 {
		worker, m := before.queue(t, 1)
		m.after(1)
		if err := worker.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d := w.start(t, nil)
	worker, m := d.queue(t, 1)
	m.after(1)
	w.upload(t, v1, hello(t))
	d.ArtifactArrived(v1)
	m.after(1)
	if v := registrytest.Get(t, w.DB, v1); v.Status != svc.StatusReady || m.attempts[v1] != 1 {
		t.Errorf("%s %q after attempt %d", v.Status, v.Error, m.attempts[v1])
	}
	if err := worker.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
