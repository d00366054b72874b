//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestCrashEvents kills workerd, worker hosts and the daemon in the middle of batches, of
// steps, of cron runs and of forks with messages in flight. Every message that was accepted
// is received, also by a child that was forked meanwhile; every instance completes, and no
// step sees two results of an earlier one; no cron run begins more than twice.
// spec: [C2.12] [C14.11]
func TestCrashEvents(t *testing.T) {
	t.Parallel()
	r := crashtest.Rand(t)
	var sum crashTally
	for end := time.Now().Add(crashtest.Duration(time.Second)); sum.Worlds == 0 || time.Now().Before(end) && !t.Failed(); {
		newEventRun(t, r, &sum).run(min(time.Until(end), time.Minute))
	}
	t.Logf("%+v", sum)
	if sum.Acknowledged == 0 || sum.Forks == 0 || sum.Workers+sum.Hosts+sum.Daemons == 0 {
		t.Error("nothing was verified")
	}
}

// eventRun is a crashRun whose first version sends messages and creates instances.
type eventRun struct {
	*crashRun
	first *tested

	mu        sync.Mutex // guards what follows
	sent      []string   // bodies of messages that were accepted
	instances []string   // ids of instances that were accepted
}

func newEventRun(t *testing.T, r *rand.Rand, sum *crashTally) *eventRun {
	t.Helper()
	w := &eventRun{crashRun: newCrashRun(t, r, sum, "testdata/crash-events", false)}
	w.first = w.add("v1", "")
	return w
}

// add deploys a version; nil if the deploy failed because of a crash.
func (w *eventRun) add(id, parent string) *tested {
	w.t.Helper()
	svctest.Succeeds(w.t, "the bundle of "+id, func() error { return w.uploadTo(id) })
	ask := api.CreateVersion{ID: id}
	if parent != "" {
		ask.ParentVersionID = &parent
	}
	svctest.Succeeds(w.t, id+" to be accepted", func() error {
		_, err := w.client().CreateVersion(w.t.Context(), project, ask, "")
		if client.CodeOf(err) == "version_exists" { // by a request whose answer was lost
			err = nil
		}
		return err
	})
	v := w.settled(id)
	if v.Status != api.VersionStatusReady {
		w.sum.Failed++
		w.t.Logf("%s: %s", id, v.Error)
		return nil
	}
	return &tested{w: w.crashRun, id: id, url: v.PreviewURL}
}

// run kills one process of each kind, and then more for the time of the test.
func (w *eventRun) run(limit time.Duration) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var producers sync.WaitGroup
	defer producers.Wait()
	defer cancel()
	for k := range 2 {
		producers.Go(func() { w.produce(ctx, k) })
	}
	w.t.Cleanup(cancel)
	kills := []func(){
		func() { w.injector.kill(workerd+" serve", &w.sum.Workers) },
		func() { w.injector.kill(" runtime-host", &w.sum.Hosts) },
		func() { w.sum.Daemons++; w.injector.restart(func() {}) },
		func() { w.fork() },
	}
	for _, kill := range kills {
		w.underWay()
		kill()
	}
	for end := time.Now().Add(limit); time.Now().Before(end) && !w.t.Failed(); {
		w.underWay()
		kills[w.rand.IntN(len(kills))]()
	}
	cancel()
	producers.Wait()
	w.complete(w.first, w.accepted())
	w.sum.Acknowledged += len(w.sent) + len(w.instances)
}

// underWay waits until the first version has a batch and a step under way.
func (w *eventRun) underWay() {
	w.t.Helper()
	svctest.Succeeds(w.t, "work under way", func() error {
		q, err := w.client().Queue(w.t.Context(), client.Queue{Project: project, Version: w.first.id, Name: "jobs"})
		if err == nil && q.Inflight == 0 {
			err = fmt.Errorf("the queue is %+v", q)
		}
		if err != nil {
			return err
		}
		page, err := w.client().WorkflowInstances(w.t.Context(), client.Workflow{Project: project, Version: w.first.id, Name: "chain"}, "running", client.Page{})
		if err == nil && len(page.Items) == 0 {
			err = fmt.Errorf("no instance runs")
		}
		return err
	})
}

// produce sends messages and creates instances, and keeps what was accepted.
func (w *eventRun) produce(ctx context.Context, k int) {
	c := w.http()
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("%d-%d", k, n)
		if w.asked(ctx, c, "/send?n="+id) {
			w.mu.Lock()
			for i := range 5 {
				w.sent = append(w.sent, fmt.Sprintf("%s-%d", id, i))
			}
			w.mu.Unlock()
		}
		if w.asked(ctx, c, "/create?n="+id) {
			w.mu.Lock()
			w.instances = append(w.instances, "i"+id)
			w.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (w *eventRun) asked(ctx context.Context, c *http.Client, path string) bool {
	a, err := fetch(ctx, c, http.MethodPost, w.first.url+path, "")
	return err == nil && a.Status == http.StatusOK
}

// accepted are the messages that were accepted up to now.
func (w *eventRun) accepted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// fork branches the first version, half of the time while a process is killed. The child
// receives what its parent had accepted, and has no instances.
func (w *eventRun) fork() {
	w.t.Helper()
	before := w.accepted()
	w.next++
	id := fmt.Sprint("child", w.next)
	var child *tested
	forked := make(chan struct{})
	go func() { defer close(forked); child = w.add(id, w.first.id) }()
	switch w.rand.IntN(4) {
	case 0:
		w.injector.kill(workerd+" serve", &w.sum.Workers)
	case 1:
		w.injector.kill(" runtime-host", &w.sum.Hosts)
	}
	<-forked
	if child == nil {
		return
	}
	w.sum.Forks++
	w.receives(child, before)
	var count int
	svctest.Succeeds(w.t, "the instances of "+id, func() error {
		page, err := w.client().WorkflowInstances(w.t.Context(), client.Workflow{Project: project, Version: id, Name: "chain"}, "", client.Page{})
		count = len(page.Items)
		return err
	})
	if count > 0 {
		w.t.Errorf("%s begins with %d instances", id, count)
	}
	svctest.Succeeds(w.t, id+" to be destroyed", func() error { _, err := w.client().Destroy(w.t.Context(), project, id); return err })
}

// eventState is what the handlers of a version wrote down.
type eventState struct {
	Got  []string            // bodies of messages
	Saw  map[string][]string // what a step of an instance got from the one before, by instance and step
	Cron map[string]int      // runs, by the time at which they were due
}

func (w *eventRun) state(v *tested) (s eventState) {
	w.t.Helper()
	if text := v.get("/state"); json.Unmarshal([]byte(text), &s) != nil {
		w.t.Fatalf("%s says %.300s", v.id, text)
	}
	return s
}

// receives waits until a version has received all of these messages, and its queue is empty.
func (w *eventRun) receives(v *tested, want []string) {
	w.t.Helper()
	svctest.Succeeds(w.t, "the queue of "+v.id+" to be empty", func() error {
		q, err := w.client().Queue(w.t.Context(), client.Queue{Project: project, Version: v.id, Name: "jobs"})
		if n := q.Ready + q.Delayed + q.Inflight; err == nil && n > 0 && v != w.first {
			err = fmt.Errorf("%d messages wait", n)
		}
		return err
	})
	got := w.state(v).Got
	for _, body := range want {
		if _, found := slices.BinarySearch(got, body); !found {
			w.t.Errorf("%s did not receive %s", v.id, body)
		}
	}
}

// complete waits until the version has nothing to do, and checks what it did.
func (w *eventRun) complete(v *tested, want []string) {
	w.t.Helper()
	flow := client.Workflow{Project: project, Version: v.id, Name: "chain"}
	svctest.Succeeds(w.t, "the end of all work", func() error {
		q, err := w.client().Queue(w.t.Context(), client.Queue{Project: project, Version: v.id, Name: "jobs"})
		if n := q.Ready + q.Delayed + q.Inflight; err == nil && n > 0 {
			err = fmt.Errorf("%d messages wait", n)
		}
		for _, status := range []string{"queued", "running", "waiting"} {
			var page api.WorkflowInstancePage
			if err == nil {
				page, err = w.client().WorkflowInstances(w.t.Context(), flow, status, client.Page{})
			}
			if err == nil && len(page.Items) > 0 {
				err = fmt.Errorf("%s is %s", page.Items[0].ID, status)
			}
		}
		return err
	})
	w.receives(v, want)
	for _, id := range w.instances {
		var i api.WorkflowInstanceDetail
		svctest.Succeeds(w.t, id, func() (err error) { i, err = w.client().WorkflowInstance(w.t.Context(), flow, id); return err })
		if i.Status != "complete" {
			w.t.Errorf("%s is %s: %+v", id, i.Status, i)
		}
	}
	s := w.state(v)
	for _, id := range w.instances {
		for _, step := range []string{".1", ".2", ".3"} {
			if results := s.Saw[id+step]; len(results) != 1 {
				w.t.Errorf("step %s%s saw %d results of the one before: %s", id, step, len(results), strings.Join(results, ", "))
			}
		}
	}
	for due, runs := range s.Cron {
		if runs > 2 {
			w.t.Errorf("the cron run of %s began %d times", due, runs)
		}
	}
}
