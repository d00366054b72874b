package workerhost_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestAlarmsWait: an alarm begins only while the version gets events, its project may be written, and
// no release is under way, whether the worker starts before or after that is known.
func TestAlarmsWait(t *testing.T) {
	t.Parallel()
	seal := func(s control.SealState) func(*testing.T, *bells) {
		return func(t *testing.T, b *bells) { _, err := b.Seal(t.Context(), control.Seal{State: s}); do(t, err) }
	}
	events := func(on bool) func(*testing.T, *bells) {
		return func(t *testing.T, b *bells) { do(t, b.Events(t.Context(), on)) }
	}
	readOnly := func(on bool) func(*testing.T, *bells) {
		return func(t *testing.T, b *bells) { do(t, b.ReadOnly(t.Context(), on)) }
	}
	nothing := func(*testing.T, *bells) {}
	for name, c := range map[string]struct {
		spec                   func(*svc.RuntimeSpec)
		opened, served, admits func(*testing.T, *bells)
	}{
		"of a release":        {func(s *svc.RuntimeSpec) { s.Continues = true }, nothing, nothing, events(true)},
		"read-only at first":  {func(s *svc.RuntimeSpec) { s.ReadOnly = true }, nothing, nothing, readOnly(false)},
		"events off, started": {func(*svc.RuntimeSpec) {}, events(false), nothing, events(true)},
		"events off":          {func(*svc.RuntimeSpec) {}, nothing, events(false), events(true)},
		"read-only":           {func(*svc.RuntimeSpec) {}, nothing, readOnly(true), readOnly(false)},
		"paused":              {func(*svc.RuntimeSpec) {}, nothing, seal(control.SealPaused), seal(control.SealUndone)},
		"two reasons": {func(s *svc.RuntimeSpec) { s.ReadOnly = true }, nothing, func(t *testing.T, b *bells) {
			events(false)(t, b)
			readOnly(false)(t, b)
		}, events(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBells(t)
			c.spec(&b.spec)
			do(t, b.Open(t.Context(), b.spec))
			c.opened(t, b)
			b.serve(t)
			c.served(t, b)
			b.ask(t, "/set")
			if got := b.ask(t, "/"); got != "0" {
				t.Errorf("%s alarms have begun", got)
			}
			c.admits(t, b)
			b.rung(t, "1")
		})
	}
}

// TestAlarmsOfChangedStart: what changes before workerd starts is in its config.
func TestAlarmsOfChangedStart(t *testing.T) {
	t.Parallel()
	b := newBells(t)
	b.spec.Continues = true
	do(t, b.Open(t.Context(), b.spec))
	do(t, b.Events(t.Context(), true))
	b.serve(t)
	b.ask(t, "/set")
	b.rung(t, "1")
}

// TestAlarmsOfStoppedWorker: when the worker does not answer, the verb fails, and the worker gets the state later.
func TestAlarmsOfStoppedWorker(t *testing.T) {
	t.Parallel()
	b := newBells(t)
	b.spec.Continues = true
	do(t, b.Open(t.Context(), b.spec))
	b.serve(t)
	b.ask(t, "/set")
	do(t, syscall.Kill(b.at.WorkerdPID, syscall.SIGSTOP))
	if err := b.Events(t.Context(), true); svc.CodeOf(err) != svc.CodeRuntimeUnavailable {
		t.Errorf("the worker cannot know: %v", err)
	}
	do(t, syscall.Kill(b.at.WorkerdPID, syscall.SIGCONT))
	b.rung(t, "1")
}

// TestSealWaitsForAlarms: an alarm that runs has the time of other events, and one that waits does not
// count.
func TestSealWaitsForAlarms(t *testing.T) {
	t.Parallel()
	b := newBells(t)
	do(t, b.Open(t.Context(), b.spec))
	b.serve(t)
	b.ask(t, "/slow")
	b.rung(t, "1")
	paused := func(s control.Seal, want ...string) {
		t.Helper()
		s.State = control.SealPaused
		if done, err := b.Seal(t.Context(), s); err != nil || !slices.Equal(done.Running, want) {
			t.Errorf("%+v: %v, %v, want %v", s, done.Running, err, want)
		}
	}
	paused(control.Seal{}, "alarms (1)")
	paused(control.Seal{Drain: 50 * time.Millisecond}, "alarms (1)")
	paused(control.Seal{Interrupt: true})
	b.ask(t, "/end")
	paused(control.Seal{Drain: time.Minute})
	b.ask(t, "/set")
	paused(control.Seal{})
	if got := b.ask(t, "/"); got != "1" {
		t.Errorf("%s alarms have begun", got)
	}
}
