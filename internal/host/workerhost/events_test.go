package workerhost_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// clock is a kind with one instance, which sends events by the names in begin and
// notes what happens.
type clock struct {
	began chan struct{} // receives when a request of an event arrives

	mu     sync.Mutex
	events sync.WaitGroup
	did    []string
	worker binding.Worker
	ctx    context.Context
}

func (*clock) Name() string                { return "clock" }
func (*clock) Check(bundle.Binding) error  { return nil }
func (c *clock) Close() error              { c.note("close"); return nil }
func (*clock) NextWake() (time.Time, bool) { return time.Unix(7, 0), true }
func (*clock) Pending() int                { return 1 }
func (c *clock) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c.began <- struct{}{}
	w.WriteHeader(http.StatusNoContent)
}

func (c *clock) Open(context.Context, bundle.Binding, volume.Volumes) (binding.Instance, error) {
	return c, nil
}

func (*clock) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	return binding.Wiring{
		Binding:  workerd.Binding{Name: d.Name, Service: &workerd.ServiceRef{Name: "clock"}},
		Services: []workerd.Service{s.Service("clock", d)},
	}
}

func (c *clock) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, what)
}

func (c *clock) notes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.did)
}

func (c *clock) Start(ctx context.Context, w binding.Worker) error {
	c.worker, c.ctx = w, ctx
	c.note("start")
	return nil
}

func (c *clock) Stop() {
	c.events.Wait()
	c.note("stop")
}

// send sends an event, and returns when the worker works on it.
func (c *clock) send(t *testing.T, cron string) {
	t.Helper()
	c.events.Go(func() {
		r, err := c.worker.Dispatch(c.ctx, svc.Event{Scheduled: &svc.Scheduled{Cron: cron, Time: time.Now()}})
		if err != nil {
			t.Error(err)
		}
		c.note(string(r.Outcome))
	})
	svctest.Wait(t, "the worker's request", c.began)
}

// resources are the bindings alone.
type resources struct{ *binding.Set }

func (resources) Objects() workerhost.Objects { return nil }

func (resources) Cut(context.Context) (branch.VersionCut, error) { return branch.VersionCut{}, nil }
func (resources) State() control.Pong                            { return control.Pong{} }
func (resources) Positions() control.Positions                   { return nil }
func (resources) Seal(context.Context, control.Seal) (control.Sealing, error) {
	return control.Sealing{}, nil
}

const clockScript = `export default { async scheduled({ cron }, env) {
	await env.CLOCK.fetch("http://clock/");
	await scheduler.wait(cron === "short" ? 50 : 600_000);
} }`

// clockVersion is a version whose one binding is a clock.
func clockVersion(t *testing.T) svc.RuntimeSpec {
	t.Helper()
	return versionOf(t, clockScript, bundle.Binding{Name: "CLOCK", Kind: "clock", Resource: "c"})
}

// versionOf is a version of one module.
func versionOf(t *testing.T, script string, bindings ...bundle.Binding) svc.RuntimeSpec {
	t.Helper()
	dir := t.TempDir()
	sum := sha256.Sum256([]byte(script))
	m := bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{},
		Modules:  []bundle.Module{{Name: "index.js", Type: bundle.ESModule, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(script))}},
		Bindings: bindings,
	}
	data, err := m.Encode()
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, "modules"), 0o700),
			os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o600), os.WriteFile(filepath.Join(dir, "modules", "index.js"), []byte(script), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return svc.RuntimeSpec{
		Ref: svc.Ref{Project: "p", Version: "v"}, Host: svc.HostConfig{HeapMB: 128, StartTimeout: time.Minute, StartCPU: time.Minute},
		Local: svc.LocalSpec{
			BundleDir: dir, DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs"), RunDir: svctest.ShortDir(t), Workerd: workerdtest.Binary(t),
		},
	}
}

// TestStarter: a binding that calls the worker starts when the worker serves, and
// has stopped before the data closes, however the version ends.
func TestStarter(t *testing.T) {
	t.Parallel()
	stop := func(grace time.Duration) func(*testing.T, *workerhost.Host, svc.Endpoint) {
		return func(t *testing.T, h *workerhost.Host, _ svc.Endpoint) {
			if _, err := h.Stop(t.Context(), control.Stop{Grace: grace}); err != nil {
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		event string
		end   func(*testing.T, *workerhost.Host, svc.Endpoint)
		want  []string
	}{
		"an event that ends":     {"short", stop(time.Minute), []string{"start", "ok", "stop", "close"}},
		"an event that lasts":    {"long", stop(200 * time.Millisecond), []string{"start", "canceled", "stop", "close"}},
		"a workerd that crashes": {"long", crash, []string{"start", "exited", "stop", "close"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := &clock{began: make(chan struct{})}
			h := workerhost.New(workerhost.Options{
				Logger: slog.New(slog.DiscardHandler), Exited: func(control.Exit) {},
				Open: func(ctx context.Context, _ svc.RuntimeSpec, m *bundle.Manifest, _ func(error)) (workerhost.Resources, error) {
					set, err := binding.OpenAll(ctx, []binding.Kind{k}, m, nil)
					return resources{set}, err
				},
			})
			if err := h.Open(t.Context(), clockVersion(t)); err != nil {
				t.Fatal(err)
			}
			e, err := h.Serve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if w, err := h.NextWake(t.Context()); err != nil || w.Pending != 1 || w.At.Unix() != 7 {
				t.Errorf("wakes %+v, %v", w, err)
			}
			k.send(t, c.event)
			c.end(t, h, e)
			if got := k.notes(); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
			if err := h.Arm(t.Context(), true); svc.CodeOf(err) != svc.CodeRuntimeNotOpen {
				t.Errorf("armed after the end: %v", err)
			}
		})
	}
}

// crash kills workerd and closes the host, as its process does then.
func crash(t *testing.T, h *workerhost.Host, e svc.Endpoint) {
	if err := syscall.Kill(e.WorkerdPID, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	svctest.Wait(t, "the end", h.Done())
	if err := h.Close(time.Minute); err != nil {
		t.Error(err)
	}
}
