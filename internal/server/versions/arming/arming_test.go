package arming_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/arming"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// world is a project with versions a, b and c, which have runtimes.
type world struct {
	mu       sync.Mutex
	prod     string
	statuses map[string]svc.Status
	calls    []string
	fail     error
	readOnly bool
	hung     string // version whose host cannot be told
}

func (w *world) Project(_ context.Context, id string) (svc.Project, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return svc.Project{ID: id, ProdVersionID: w.prod, ReadOnly: w.readOnly}, w.fail
}

func (w *world) Version(_ context.Context, ref svc.Ref) (svc.Version, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return svc.Version{Ref: ref, Status: w.statuses[ref.Version]}, nil
}

func (w *world) Runtimes() []svc.Runtime {
	list := []svc.Runtime{{Ref: svc.Ref{Project: "other", Version: "x"}}}
	for _, v := range []string{"a", "b", "c"} {
		list = append(list, svc.Runtime{Ref: svc.Ref{Project: "shop", Version: v}})
	}
	return list
}

func (w *world) Arm(_ context.Context, ref svc.Ref, a svc.Arming) error {
	time.Sleep(time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, map[bool]string{true: "+", false: "-"}[a.Crons]+ref.Version+map[bool]string{true: " read-only"}[a.ReadOnly])
	if ref.Version == w.hung {
		return errors.New("it does not answer")
	}
	return nil
}

// set changes the registry.
func (w *world) set(prod string, statuses map[string]svc.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prod, w.statuses = prod, statuses
}

// TestRule checks the last call of Arm for each version; "-" comes before "+".
// spec: [C10.1] [C10.2] [C10.3] [C10.4]
func TestRule(t *testing.T) {
	t.Parallel()
	ready := map[string]svc.Status{"a": svc.StatusReady, "b": svc.StatusReady, "c": svc.StatusDeploying}
	for name, c := range map[string]struct {
		prod     string
		statuses map[string]svc.Status
		report   string // the version that changed; "" is the production
		want     string
	}{
		"no production, a version is ready":  {"", ready, "a", "+a"},
		"no production, one is not ready":    {"", ready, "c", "-c"},
		"no production any more":             {"", ready, "", "-c +a +b"},
		"the first production":               {"a", ready, "", "-b -c +a"},
		"another version is ready":           {"a", ready, "b", "-b"},
		"production starts":                  {"a", ready, "a", "-b -c +a"},
		"production drains before a promote": {"a", map[string]svc.Status{"a": svc.StatusDraining, "b": svc.StatusReady}, "a", "-a -b -c"},
		"a promote":                          {"b", map[string]svc.Status{"a": svc.StatusDraining, "b": svc.StatusReady}, "", "-a -c +b"},
		"the old production is ready again":  {"b", ready, "a", "-a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &world{}
				w.set(c.prod, c.statuses)
				s := arming.New(w, w, slog.New(slog.DiscardHandler))
				if c.report == "" {
					s.ProductionChanged(t.Context(), "shop")
				} else {
					s.VersionChanged(t.Context(), svc.Ref{Project: "shop", Version: c.report}, serving)
				}
				if err := s.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				s.ProductionChanged(t.Context(), "shop") // after Stop nothing is armed
				synctest.Wait()
				if got := strings.Join(w.calls, " "); got != c.want {
					t.Errorf("the calls of Arm are %s, want %s", got, c.want)
				}
			})
		})
	}
}

// serving is the upstream of a version with a runtime.
var serving = svc.Upstream{Endpoint: svc.Endpoint{Socket: "s"}}

// TestNothingToArm: a version without a runtime is not armed.
func TestNothingToArm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		w.set("a", map[string]svc.Status{"a": svc.StatusReady})
		s := arming.New(w, w, slog.New(slog.DiscardHandler))
		s.VersionChanged(t.Context(), svc.Ref{Project: "shop", Version: "a"}, svc.Upstream{})
		if err := s.Stop(t.Context()); err != nil || len(w.calls) > 0 {
			t.Errorf("%v; the calls of Arm are %v", err, w.calls)
		}
	})
}

// TestReports: one report of a project is handled at a time, and the last one applies
// the current registry.
func TestReports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, log := &world{}, &svctest.Buffer{}
		s := arming.New(w, w, slog.New(slog.NewTextHandler(log, nil)))
		both := map[string]svc.Status{"a": svc.StatusReady, "b": svc.StatusReady}
		w.set("a", both)
		s.ProductionChanged(t.Context(), "shop")
		synctest.Wait() // it waits for the first host
		w.set("b", both)
		s.ProductionChanged(t.Context(), "shop")
		s.VersionChanged(t.Context(), svc.Ref{Project: "shop", Version: "a"}, serving)
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if len(w.calls) != 7 || !slices.Equal(w.calls[:3], []string{"-b", "-c", "+a"}) || w.last("a") != "-a" || w.last("b") != "+b" {
			t.Errorf("the calls of Arm are %v", w.calls)
		}
		s = arming.New(w, w, slog.New(slog.NewTextHandler(log, nil)))
		w.fail = svc.Errorf(svc.NotFound, svc.CodeProjectNotFound, "there is no project shop")
		s.ProductionChanged(t.Context(), "shop")
		if synctest.Wait(); log.String() != "" {
			t.Errorf("after the deletion of the project: %s", log)
		}
		w.fail = errors.New("the registry is closed")
		s.ProductionChanged(t.Context(), "shop")
		if err := s.Stop(t.Context()); err != nil || len(w.calls) != 7 || !strings.Contains(log.String(), "the registry is closed") {
			t.Errorf("%v, the calls of Arm are %v, logged %s", err, w.calls, log)
		}
	})
}

// last returns the last call of Arm for a version.
func (w *world) last(version string) string {
	for _, calls := range slices.Backward(w.calls) {
		if calls[1:] == version {
			return calls
		}
	}
	return ""
}
