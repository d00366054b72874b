package promote_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C3.5] [C8.3] [C8.4] [C8.5] [C8.6] [C8.7] [C8.8] [C8.9] [C8.12]
func TestPromoteAndRollBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	d := w.start(t, nil)
	for _, version := range []string{"v1", "v2"} { // v2 is the second: no effect
		if err := d.AssignFirst(t.Context(), ref(version)); err != nil {
			t.Fatal(err)
		}
	}
	w.check(t, d.gateway, "v1")
	op := d.promote(t, w, "v2")
	w.check(t, d.gateway, "v2")
	want := []string{
		"production v1", // assigned
		"hold", "v1 draining", "production v2", "release", "websockets v1 production 30s", "v1 ready",
	}
	if diff := cmp.Diff(want, d.gateway.log()); diff != "" {
		t.Errorf("the calls of the gateway (-want +got):\n%s", diff)
	}
	if op.Status != svc.PromotionDone || op.Previous != "v1" || op.FinishedAt.IsZero() || op.CutOver != d.gateway.CutOver("shop") {
		t.Errorf("the record is %+v", op)
	}
	var steps []string
	for _, s := range op.Steps {
		steps = append(steps, s.Step+" "+string(s.Status))
	}
	if diff := cmp.Diff([]string{"validate done", "drain done", "pointers done", "commit done", "activate done"}, steps); diff != "" {
		t.Errorf("the steps (-want +got):\n%s", diff)
	}
	d.promote(t, w, "v1") // rollback is the same call
	w.check(t, d.gateway, "v1")
}

// TestPromoteOfAVersionThatDoesNotServe: the promotion is refused and production stays.
func TestPromoteOfAVersionThatDoesNotServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	d := w.start(t, nil)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	d.gateway.down = svc.Errorf(svc.Conflict, svc.CodeVersionNotServing, "boom")
	for range 2 { // the first leaves nothing behind
		if _, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{}); svc.CodeOf(err) != svc.CodeVersionNotServing {
			t.Errorf("Promote: %v", err)
		}
	}
	w.check(t, d.gateway, "v1")
	d.gateway.down = nil
	d.promote(t, w, "v2")
	w.check(t, d.gateway, "v2")
}

// TestPromoteWhenDone: a client that has read that a promotion is done can start the
// next.
func TestPromoteWhenDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	late := make(results) // blocks the promotion after its outcome is written
	d := w.start(t, func(deps *promote.Deps) { deps.Observer = late })
	op, err := d.Promote(t.Context(), ref("v1"), svc.PromoteRequest{})
	for err == nil && op.Status == svc.PromotionRunning {
		op, err = w.Promotion(t.Context(), "shop", op.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Promote(short, ref("v2"), svc.PromoteRequest{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the next promotion did not wait: %v", err)
	}
	<-late
	if _, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{}); err != nil {
		t.Fatal(err)
	}
	<-late
}

// TestOutcomeRetried: an outcome that could not be written is written later; until
// then the promotion runs, and the next one gets promote_in_progress.
func TestOutcomeRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	finishing, proceed := make(chan struct{}, 2), make(chan error, 2)
	f := &faults{world: w, fail: func(call string) error {
		if call != "finish" {
			return nil
		}
		finishing <- struct{}{}
		return <-proceed
	}}
	d := w.start(t, f.use)
	if _, err := d.Promote(t.Context(), ref("v1"), svc.PromoteRequest{}); err != nil {
		t.Fatal(err)
	}
	<-finishing
	next := make(chan error)
	go func() {
		_, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{})
		next <- err
	}()
	proceed <- errors.New("disk full")
	for answered := false; !answered; {
		select {
		case err := <-next:
			if answered = true; svc.CodeOf(err) != "promote_in_progress" {
				t.Errorf("the next promotion: %v", err)
			}
		case <-finishing: // the retry came first
			proceed <- errors.New("disk still full")
		}
	}
	proceed <- nil
	<-d.done
	w.check(t, d.gateway, "v1")
}

func TestPromoteWithoutProduction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	d := w.start(t, nil)
	if op := d.promote(t, w, "v1"); op.Status != svc.PromotionDone || op.Previous != "" {
		t.Errorf("the record is %+v", op)
	}
	w.check(t, d.gateway, "v1")
}

func TestPromoteUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	counted := make(results, 1)
	d := w.start(t, func(deps *promote.Deps) { deps.Observer = counted })
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	op, err := d.Promote(t.Context(), ref("v1"), svc.PromoteRequest{Reason: "again"})
	if err != nil || op.Status != svc.PromotionUnchanged || op.Previous != "v1" {
		t.Fatalf("%+v, %v", op, err)
	}
	if got, err := w.Promotion(t.Context(), "shop", op.ID); err != nil || got.Status != svc.PromotionUnchanged {
		t.Errorf("its record is %+v, %v", got, err)
	}
	if len(counted) != 1 {
		t.Error("it is not counted")
	} else if result := <-counted; result != "unchanged" {
		t.Errorf("it is counted as %s", result)
	}
	w.check(t, d.gateway, "v1")
}

// spec: [C8.1] [C8.13]
func TestPromoteErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	w.add(t, "pending")
	w.add(t, "failed", svc.TriggerFail)
	w.addReady(t, "archived")
	w.addReady(t, "gone")
	for id, trigger := range map[string]svc.Trigger{"archived": svc.TriggerArchive, "gone": svc.TriggerDestroy} {
		if _, err := w.Move(t.Context(), ref(id), trigger, svc.Change{}); err != nil {
			t.Fatal(err)
		}
	}
	d := w.start(t, nil)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	none, other := "", "v2"
	for name, tc := range map[string]struct {
		ref      svc.Ref
		expected *string
		kind     svc.Kind
		code     string
		hint     string
	}{
		"pending":        {ref("pending"), nil, svc.Conflict, "version_not_ready", "wait"},
		"failed":         {ref("failed"), nil, svc.Conflict, "version_not_ready", "new version"},
		"archived":       {ref("archived"), nil, svc.Conflict, "version_not_ready", "wake"},
		"destroyed":      {ref("gone"), nil, svc.Gone, "version_destroyed", ""},
		"unknown":        {ref("v9"), nil, svc.NotFound, "version_not_found", ""},
		"no project":     {svc.Ref{Project: "nope", Version: "v1"}, nil, svc.NotFound, "project_not_found", ""},
		"expected none":  {ref("v2"), &none, svc.Precondition, "production_moved", "read"},
		"expected other": {ref("v1"), &other, svc.Precondition, "production_moved", "read"},
	} {
		_, err := d.Promote(t.Context(), tc.ref, svc.PromoteRequest{ExpectedProd: tc.expected})
		if !errors.Is(err, tc.kind) || svc.CodeOf(err) != tc.code || !strings.Contains(svc.AsError(err).Hint, tc.hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.check(t, d.gateway, "v1")
	if len(d.gateway.log()) != 1 {
		t.Errorf("a rejected promotion called the gateway: %v", d.gateway.log())
	}
}

// TestPromoteCutOver: requests wait during the cut-over and reach the new version; a
// second promotion is rejected until it ends; requests in flight delay only the end
// of draining.
// spec: [C7.10] [C8.4] [C8.6]
func TestPromoteCutOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	inCut, proceed := make(chan struct{}), make(chan struct{})
	f := &faults{world: w}
	d := w.start(t, func(deps *promote.Deps) {
		f.use(deps)
		deps.HoldLimit, deps.DrainWait = time.Minute, 20*time.Millisecond
	})
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	f.fail = func(call string) error {
		if call == "commit v2" {
			close(inCut)
			<-proceed
		}
		return nil
	}
	d.gateway.inflight = make(chan struct{}) // never ends
	if _, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{}); err != nil {
		t.Fatal(err)
	}
	<-inCut
	if w.status(t, "v1") != svc.StatusDraining {
		t.Error("the old version is not draining")
	}
	for _, version := range []string{"v1", "v2"} {
		if _, err := d.Promote(t.Context(), ref(version), svc.PromoteRequest{}); svc.CodeOf(err) != "promote_in_progress" {
			t.Errorf("promoting %s during the cut-over: %v", version, err)
		}
	}
	answers := make(chan string)
	for range 5 {
		go func() { answers <- d.gateway.request("shop") }()
	}
	close(proceed)
	for range 5 {
		if got := <-answers; got != "v2" {
			t.Errorf("a held request was answered by %s", got)
		}
	}
	if got := <-d.done; got != "done" {
		t.Error(got)
	}
	d.idle(t, w)
	w.check(t, d.gateway, "v2")
}

// TestPromoteTakesTwoSeconds: with the limits of the daemon, a promote is over two seconds
// after the cut-over, even if a request to the old version never ends.
// spec: [C8.11]
func TestPromoteTakesTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.addReady(t, "v1")
		w.addReady(t, "v2")
		d := w.start(t, func(deps *promote.Deps) {
			deps.HoldLimit, deps.DrainWait = promote.DefaultHoldLimit, promote.DefaultDrainWait
		})
		if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		d.gateway.inflight = make(chan struct{}) // never ends
		began := time.Now()
		if _, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := <-d.done; got != "done" || time.Since(began) > 2*time.Second {
			t.Errorf("%s after %s", got, time.Since(began))
		}
		d.idle(t, w)
	})
}

// TestPromoteHoldLimit: requests reach the old version if the cut-over hangs.
func TestPromoteHoldLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	inCut, proceed := make(chan struct{}), make(chan struct{})
	f := &faults{world: w}
	d := w.start(t, func(deps *promote.Deps) { f.use(deps); deps.HoldLimit = time.Millisecond })
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	f.fail = func(call string) error {
		if call == "commit v2" {
			close(inCut)
			<-proceed
		}
		return nil
	}
	if _, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{}); err != nil {
		t.Fatal(err)
	}
	<-inCut
	if got := d.gateway.request("shop"); got != "v1" {
		t.Errorf("answered by %q", got)
	}
	close(proceed)
	<-d.done
	d.idle(t, w)
	w.check(t, d.gateway, "v2")
}

// spec: [C8.10]
func TestEveryStepFailing(t *testing.T) {
	t.Parallel()
	boom := svc.Errorf(svc.Unavailable, "boom", "it broke")
	for call, text := range map[string]string{
		"version":      "validate: boom: it broke",
		"move drain":   "drain: boom: it broke",
		"put":          "pointers: pointer_unavailable: ",
		"commit v2":    "commit: boom: it broke",
		"move undrain": "activate: boom: it broke",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addReady(t, "v1")
			w.addReady(t, "v2")
			f := &faults{world: w}
			d := w.start(t, f.use)
			if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
				t.Fatal(err)
			}
			var once sync.Once
			calls := 0
			f.fail = func(c string) (err error) {
				if c != call {
					return nil
				}
				if calls++; call == "version" && calls == 1 {
					return nil // the call of Promote itself
				}
				once.Do(func() { err = boom })
				return err
			}
			op := d.promote(t, w, "v2")
			if op.Status != svc.PromotionFailed || !strings.HasPrefix(op.Error, text) {
				t.Errorf("ended %s: %q, want %q", op.Status, op.Error, text)
			}
			w.check(t, d.gateway, "v1")
			f.fail = nil
			if op := d.promote(t, w, "v2"); op.Status != svc.PromotionDone {
				t.Errorf("the next promotion: %s: %q", op.Status, op.Error)
			}
			w.check(t, d.gateway, "v2")
		})
	}
}

// TestPromoteLosesTheRace: if another compare-and-set wins, the promotion is undone
// and the winner stays production.
// spec: [C8.8]
func TestPromoteLosesTheRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	w.addReady(t, "v3")
	f := &faults{world: w}
	d := w.start(t, f.use)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	f.fail = func(call string) error {
		if call == "commit v2" {
			return w.SetProduction(t.Context(), "shop", "v1", "v3")
		}
		return nil
	}
	op := d.promote(t, w, "v2")
	if op.Status != svc.PromotionFailed || !strings.HasPrefix(op.Error, "commit: production_moved: ") {
		t.Errorf("ended %s: %q", op.Status, op.Error)
	}
	d.idle(t, w) // repairs the pointer
	w.check(t, d.gateway, "v3")
}

// TestCompensationRetried: a compensation that fails is retried, and requests do not
// wait for it.
func TestCompensationRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	f := &faults{world: w}
	d := w.start(t, f.use)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	gets := 0
	f.fail = func(call string) error {
		if call == "put" {
			return errors.New("object store down")
		}
		if call == "get" {
			if gets++; gets == 2 { // the compensation of pointers, once
				return errors.New("object store down")
			}
		}
		return nil
	}
	op := d.promote(t, w, "v2")
	if op.Status != svc.PromotionFailed {
		t.Errorf("ended %s", op.Status)
	}
	if gets < 3 {
		t.Errorf("the compensation ran %d times", gets-1)
	}
	w.check(t, d.gateway, "v1")
}

// TestPromoteObjectStoreDown: during an outage of the object store the old version
// drains no longer than the saga's limit; the pointer is restored after the outage.
func TestPromoteObjectStoreDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	f := &faults{world: w}
	d := w.start(t, f.use)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	calls, events := 0, []string(nil)
	f.fail = func(call string) error {
		if call != "get" {
			return nil
		}
		if calls++; calls <= 2 { // the step and its compensation
			return errors.New("object store down")
		}
		events = d.gateway.log() // the calls during the outage
		f.fail = nil
		return nil
	}
	if op := d.promote(t, w, "v2"); op.Status != svc.PromotionFailed {
		t.Errorf("ended %s", op.Status)
	}
	if !slices.Contains(events, "v1 ready") || !slices.Contains(events, "release") {
		t.Errorf("v1 does not serve during the outage: %v", events)
	}
	w.check(t, d.gateway, "v1")
}

func TestParallelFirstVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	versions := []string{"a", "b", "c", "d", "e", "f"}
	for _, v := range versions {
		w.addReady(t, v)
	}
	var wg sync.WaitGroup
	for i, v := range versions {
		wg.Go(func() {
			if i == 3 { // a concurrent promotion
				if _, err := d.Promote(t.Context(), ref(v), svc.PromoteRequest{}); err != nil {
					t.Error(err)
				}
				return
			}
			if err := d.AssignFirst(t.Context(), ref(v)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	<-d.done
	d.idle(t, w)
	w.check(t, d.gateway, "d") // the explicit promotion wins
}

func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	d := w.start(t, nil)
	if _, err := d.Promote(t.Context(), ref("v1"), svc.PromoteRequest{}); err != nil {
		t.Fatal(err)
	}
	d.stop(t)
	w.check(t, d.gateway, "v1")
	if _, err := d.Promote(t.Context(), ref("v1"), svc.PromoteRequest{}); svc.CodeOf(err) != "shutting_down" {
		t.Errorf("after Stop: %v", err)
	}
}
