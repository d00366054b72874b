package sleep_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/sleep"
	"github.com/svcctl/svcctl/internal/svc"
)

// uses are the calls that need the worker host of a version.
func uses(t *testing.T, s *sleep.Service) map[string]func(svc.Ref) error {
	return map[string]func(svc.Ref) error{
		"Data": func(r svc.Ref) error {
			answer, err := s.Data(r, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/kv", nil))
			if err != nil {
				return err
			}
			if answer.Status != "/kv" {
				t.Errorf("answer: %q", answer.Status)
			}
			return answer.Body.Close()
		},
		"Dispatch": func(r svc.Ref) error {
			result, err := s.Dispatch(t.Context(), r, svc.Event{})
			if err == nil && result.Outcome != svc.OutcomeOK {
				t.Errorf("outcome: %q", result.Outcome)
			}
			return err
		},
	}
}

// TestVersions: questions about a version that sleeps do not start it, its use does.
func TestVersions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("v1")
		s := w.service(time.Minute)
		due := time.Now().Add(time.Hour)
		w.wakes["v1"] = svc.Wake{At: due, Pending: 1, Waiting: svc.Waiting{Messages: 3}}
		state := func(want svc.RuntimeState, pending int) {
			t.Helper()
			if now, ok := s.Runtime(ref("v1")); !ok || now.State != want {
				t.Errorf("runtime: %v, %v; want %v", now.State, ok, want)
			}
			if wake, err := s.NextWake(t.Context(), ref("v1")); err != nil || !wake.At.Equal(due) || wake.Pending != pending {
				t.Errorf("wake: %+v, %v", wake, err)
			}
		}
		state(svc.RuntimeServing, 1)
		for name, use := range uses(t, s) {
			if err := w.Sleep(t.Context(), ref("v1")); err != nil {
				t.Fatal(err)
			}
			state(svc.RuntimeAsleep, 0)
			if err := use(ref("v1")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			state(svc.RuntimeServing, 1)
		}
		if err := w.Sleep(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		if n := s.Waiting(t.Context(), ref("v1")); n.Messages != 3 {
			t.Errorf("waiting: %+v", n)
		}
	})
}

// TestVersionsStarting: a use waits for a start that something else began.
func TestVersionsStarting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("v1")
		s := w.service(time.Minute)
		for name, use := range uses(t, s) {
			w.rousing = map[string]bool{"v1": true}
			w.runtimes["v1"] = svc.Runtime{Ref: ref("v1"), State: svc.RuntimeStarting}
			if err := use(ref("v1")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// falling is a world in which processes have ended and the time of the next start is not recorded yet.
type falling struct{ *world }

func (f falling) Asleep(r svc.Ref) (svc.Runtime, bool) {
	return svc.Runtime{Ref: r, State: svc.RuntimeServing}, true
}

// TestVersionsFallingAsleep: a version does not sleep before it is known when it must start again.
func TestVersionsFallingAsleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("v1")
		s := sleep.New(sleep.Config{After: time.Minute, Versions: w, Runtimes: falling{w}, Hosts: hosts{w}, Gateway: hosts{w}, Logger: slog.New(slog.DiscardHandler)})
		if err := w.Sleep(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		if now, ok := s.Runtime(ref("v1")); !ok || now.State != svc.RuntimeServing {
			t.Errorf("runtime: %v, %v", now.State, ok)
		}
	})
}

// TestVersionsDoNotStart: a version whose start fails is not asked.
func TestVersionsDoNotStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("v1")
		s := w.service(time.Minute)
		w.fail, w.wakes["v1"] = svc.Conflict, svc.Wake{Waiting: svc.Waiting{Messages: 3}}
		if err := w.Sleep(t.Context(), ref("v1")); err != nil {
			t.Fatal(err)
		}
		for name, use := range uses(t, s) {
			if err := use(ref("v1")); !errors.Is(err, svc.Conflict) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := s.Waiting(t.Context(), ref("v1")); n != (svc.Waiting{}) {
			t.Errorf("waiting: %+v", n)
		}
	})
}
