package sleep_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestPageOutIdle: the memory of a version is moved once after each use of it.
func TestPageOutIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("idle", "used", "worked")
		s := w.service(10 * time.Minute)
		tick := func(after time.Duration, want string) {
			t.Helper()
			<-time.After(after)
			if err := s.PageOutIdle(t.Context()); err != nil {
				t.Error(err)
			}
			if got := w.counted(); got != want {
				t.Errorf("%s: %q, want %q", time.Since(w.began), got, want)
			}
		}
		tick(9*time.Minute, "")
		w.used["used"] = time.Now()
		r := w.runtimes["worked"]
		r.WorkedAt = time.Now()
		w.runtimes["worked"] = r
		tick(time.Minute, "out idle")
		tick(9*time.Minute, "out used, out worked")
		tick(time.Hour, "")
		w.used["idle"] = time.Now()
		tick(9*time.Minute, "")
		tick(time.Minute, "out idle")
		r = w.runtimes["used"]
		r.Endpoint.StartedAt = time.Now() // it crashed
		w.runtimes["used"] = r
		w.pageOut = errors.New("no right")
		<-time.After(10 * time.Minute)
		if err := s.PageOutIdle(t.Context()); !errors.Is(err, w.pageOut) {
			t.Error(err)
		}
		w.pageOut = svc.Unavailable // it has just ended
		tick(time.Minute, "")
		w.pageOut = nil
		tick(time.Minute, "out used")
	})
}

// TestRecycleIdle: which versions get new processes.
func TestRecycleIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("archived", "behind", "busy", "large", "prod", "small", "soon", "used")
		s := w.service(time.Hour)
		w.bytes = map[string]int64{"small": 100 << 20}
		for id, v := range w.versions {
			if id != "small" {
				w.bytes[id] = 101 << 20
			}
			v.Production = id == "prod"
			if id == "archived" {
				v.Status = svc.StatusArchived
			}
			w.versions[id] = v
		}
		r := w.runtimes["behind"]
		r.Behind = time.Second
		w.runtimes["behind"] = r
		w.wakes["busy"] = svc.Wake{Pending: 1}
		run := func(after time.Duration) {
			t.Helper()
			<-time.After(after)
			w.wakes["soon"] = svc.Wake{At: time.Now().Add(time.Second)}
			if err := s.RecycleIdle(t.Context()); err != nil {
				t.Error(err)
			}
		}
		run(59 * time.Second)
		w.used["used"] = time.Now()
		run(time.Second)
		slices.Sort(w.starts)
		if want := []string{"large 1m0s", "prod 1m0s"}; !slices.Equal(w.starts, want) {
			t.Errorf("the starts are %v, want %v", w.starts, want)
		}
		if got := w.counted(); got != "recycled, recycled" {
			t.Errorf("counted: %s", got)
		}
		w.starts, w.bytes["used"] = nil, 0
		run(59 * time.Second)
		if len(w.starts) != 0 {
			t.Errorf("%v were recycled soon after their start", w.starts)
		}
		w.fail = errors.New("no bundle")
		<-time.After(time.Minute)
		if err := s.RecycleIdle(t.Context()); !errors.Is(err, w.fail) || w.counted() != "" {
			t.Errorf("a start that fails: %v", err)
		}
	})
}
