package preview_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/preview"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// world is a real registry with fakes of the gateway and of the verbs, which only move
// the status.
type world struct {
	*registry.DB
	mu     sync.Mutex
	calls  []string
	failed error
}

func (w *world) say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, text)
}

func (w *world) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *world) SetPreview(_, name, version string) { w.say(name + " to " + version) }
func (w *world) HoldPreview(_, name string)         { w.say("hold " + name) }
func (w *world) ReleasePreview(_, name string)      { w.say("release " + name) }

func (w *world) Archive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	if w.failed != nil {
		return svc.Version{}, w.failed
	}
	return w.Move(ctx, ref, svc.TriggerArchive, svc.Change{})
}

func (w *world) Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	return w.Move(ctx, ref, svc.TriggerDestroy, svc.Change{})
}

func start(t *testing.T) (*world, *preview.Service) {
	t.Helper()
	w := &world{DB: registrytest.Open(t, "shop")}
	registrytest.Add(t, w.DB, "shop", "prod", registrytest.ToReady()...)
	if err := w.SetProduction(t.Context(), "shop", "", "prod"); err != nil {
		t.Fatal(err)
	}
	return w, preview.New(w, w, w, slog.New(slog.DiscardHandler))
}

func (w *world) add(t *testing.T, id string) {
	t.Helper()
	n := svc.NewVersion{Project: "shop", ID: id, Preview: svc.PreviewRequest{Name: "feature"}}
	v, _, err := w.CreateVersion(t.Context(), n, svc.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, w.DB, v.Ref, registrytest.ToReady()...)
}

func (w *world) status(t *testing.T, id string) svc.Status {
	t.Helper()
	return registrytest.Get(t, w.DB, svc.Ref{Project: "shop", Version: id}).Status
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	w, s := start(t)
	w.add(t, "f1")
	release := s.Hold("shop", "feature")
	w.add(t, "f2")
	if err := s.Publish(t.Context(), "shop", "feature"); err != nil {
		t.Fatal(err)
	}
	release()
	if got := w.said(); !slices.Equal(got, []string{"hold feature", "feature to f2", "release feature"}) {
		t.Errorf("%q", got)
	}
	s.Switched(t.Context())
	if err := s.Stop(t.Context()); err != nil { // waits for the archive
		t.Fatal(err)
	}
	if f1, f2 := w.status(t, "f1"), w.status(t, "f2"); f1 != svc.StatusArchived || f2 != svc.StatusReady {
		t.Errorf("f1 is %s, f2 is %s", f1, f2)
	}
}

// TestTidyErrors checks that a version that another verb moves meanwhile is no error,
// and that an outage is one.
func TestTidyErrors(t *testing.T) {
	t.Parallel()
	w, s := start(t)
	w.add(t, "f1")
	w.add(t, "f2")
	w.failed = svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "busy")
	if err := s.Tidy(t.Context()); err != nil {
		t.Error(err)
	}
	w.failed = svc.Errorf(svc.Unavailable, svc.CodeArchiveIncomplete, "no store")
	if err := s.Tidy(t.Context()); !errors.Is(err, svc.Unavailable) {
		t.Error(err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w, s := start(t)
	w.add(t, "f1")
	w.add(t, "f2")
	if err := w.SetProduction(t.Context(), "shop", "prod", "f1"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Delete(t.Context(), "shop", "feature")
	if registrytest.WantError(t, err, svc.Conflict, svc.CodeVersionIsProduction); w.status(t, "f2") != svc.StatusReady {
		t.Error("f2 was destroyed with its preview in production")
	}
	if err := w.SetProduction(t.Context(), "shop", "f1", "prod"); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Delete(t.Context(), "shop", "feature"); err != nil || p.Versions != 2 {
		t.Errorf("%+v %v", p, err)
	}
	if f1, f2 := w.status(t, "f1"), w.status(t, "f2"); f1 != svc.StatusDestroyed || f2 != svc.StatusDestroyed {
		t.Errorf("f1 is %s, f2 is %s", f1, f2)
	}
	_, err = s.Delete(t.Context(), "shop", "feature")
	registrytest.WantError(t, err, svc.NotFound, svc.CodePreviewNotFound)
}
