package deploy_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

func sleeps(d *deploy.Deps) { d.Sleep.On, d.Sleep.Production = true, true }

// ready deploys v1.
func (d *daemon) ready(t *testing.T) svc.Ref {
	t.Helper()
	r := d.submit(t, svc.NewVersion{ID: "v1"})
	d.upload(t, r, hello(t))
	d.run(t, r)
	return r
}

// TestSleep: a version that sleeps is ready and healthy, also for the next daemon, which
// does not start it; Awake starts it.
func TestSleep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, sleeps)
	r := d.ready(t)
	before := len(d.gateway.log())
	if err := d.Sleep(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := d.gateway.log()[before:]; !slices.Equal(got, []string{"v1 ready asleep"}) || len(d.NotServing()) > 0 {
		t.Errorf("the gateway got %q; not serving: %v", got, d.NotServing())
	}
	next := w.start(t, sleeps)
	if err := next.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, asleep := next.Asleep(r)
	if !asleep || now.State != svc.RuntimeAsleep || time.Until(now.WakeAt) < 50*time.Minute || next.runtimes.running() > 0 || len(next.AllAsleep()) != 1 {
		t.Errorf("%v %+v, %d processes", asleep, now, next.runtimes.running())
	}
	starting := svc.Upstream{}
	next.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "serve" {
			starting = next.gateway.routes[r]
		}
		return nil
	}
	for range 2 {
		if err := next.Awake(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := next.gateway.log(); !slices.Equal(got, []string{"v1 ready asleep", "production v1", "v1 ready starting", "v1 ready /run/v1.sock"}) {
		t.Errorf("the gateway got %q", got)
	}
	if !starting.Starting || !starting.Planned {
		t.Errorf("requests do not wait as long as for a planned start: %+v", starting)
	}
	if _, asleep := next.Asleep(r); asleep || len(next.NotServing()) > 0 {
		t.Error("it is not awake")
	}
	if v, err := w.Version(t.Context(), r); err != nil || !v.AsleepAt.IsZero() || !v.WakeAt.IsZero() {
		t.Errorf("the record is %+v, %v", v, err)
	}
}

// TestSleepUsed: a version stays awake if its machine has answered a request that the gateway hears of
// only when it has drained the version.
func TestSleepUsed(t *testing.T) {
	t.Parallel()
	d := newWorld(t).start(t, sleeps)
	r := d.ready(t)
	now := time.Now()
	d.gateway.used = []time.Time{now, now.Add(1)}
	if err := d.Sleep(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, asleep := d.Asleep(r); asleep || d.runtimes.running() != 1 {
		t.Errorf("asleep: %v, %d processes", asleep, d.runtimes.running())
	}
	d.gateway.used = []time.Time{now, now}
	if err := d.Sleep(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, asleep := d.Asleep(r); !asleep {
		t.Error("it does not sleep")
	}
}

// TestAwakeWaits: Awake waits for a start from sleep that another call began.
func TestAwakeWaits(t *testing.T) {
	t.Parallel()
	d := newWorld(t).start(t, sleeps)
	r := d.ready(t)
	if err := d.Sleep(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	calls := 0
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "serve" {
			if calls++; !d.Rousing(r) {
				t.Error("the start is not known")
			}
			if err := d.Awake(gone, r); !errors.Is(err, context.Canceled) {
				t.Errorf("the second call did not wait: %v", err)
			}
		}
		return nil
	}
	if err := d.Awake(t.Context(), r); err != nil || calls != 1 || d.Rousing(r) {
		t.Errorf("%v after %d starts", err, calls)
	}
}

// TestSleepSettings: without the setting every version starts with the daemon.
func TestSleepSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*deploy.Deps){
		"off":            nil,
		"not production": func(d *deploy.Deps) { d.Sleep.On = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.start(t, sleeps)
			r := d.ready(t)
			if err := d.Sleep(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			next := w.start(t, change)
			if err := next.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v, err := w.Version(t.Context(), r); err != nil || !v.AsleepAt.IsZero() || next.runtimes.running() != 1 {
				t.Errorf("the record is %+v, %v; %d processes", v, err, next.runtimes.running())
			}
		})
	}
}

// TestAwakeFails: a version whose start cannot be tried sleeps on, and is tried again by a
// request after a moment and for its own work; one whose worker fails is restarted like one
// that crashed.
func TestAwakeFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call, code, last string
		asleep           bool
	}{
		"no process": {"open", "", "v1 ready asleep waits", true},
		"no worker":  {"serve", svc.CodeVersionNotServing, "v1 ready waits", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newWorld(t).start(t, sleeps)
			r := d.ready(t)
			if err := d.Sleep(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			failure := errors.New("the disk is full")
			d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
				if call == c.call {
					return failure
				}
				return nil
			}
			if err := d.Awake(t.Context(), r); err == nil || c.code != "" && svc.CodeOf(err) != c.code {
				t.Errorf("err = %v", err)
			}
			v, err := d.Version(t.Context(), r)
			if now, asleep := d.Asleep(r); err != nil || asleep != c.asleep || asleep == v.AsleepAt.IsZero() || asleep && time.Until(now.WakeAt) > time.Minute {
				t.Errorf("%+v; the record is %+v, %v", now, v, err)
			}
			if got := d.gateway.log(); got[len(got)-1] != c.last {
				t.Errorf("the gateway got %q", got)
			}
		})
	}
}
