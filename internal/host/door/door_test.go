package door_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestDoor(t *testing.T) {
	t.Parallel()
	bindingtest.Door(t, func(t *testing.T, source string) bindingtest.Running {
		w := bindingtest.Start(t, bindingtest.OpenSet(t, nil, nil), source)
		return bindingtest.Running{
			Worker: w, Kill: w.Kill,
			Post: func(path, body string) string { return w.Post(t, path, body) },
			Stop: func(grace time.Duration) {
				ctx, cancel := context.WithTimeout(t.Context(), grace)
				defer cancel()
				w.Stop(ctx)
			},
		}
	})
}

// probe is a kind whose binding is a server of the test's.
type probe struct{ binding.Kind }

const probeSocket = "p"

func (probe) Name() string               { return "probe" }
func (probe) Check(bundle.Binding) error { return nil }

func (probe) Open(context.Context, bundle.Binding, volume.Volumes) (binding.Instance, error) {
	return nil, nil
}

func (probe) Wire(d bundle.Binding, _ binding.Site) binding.Wiring {
	return binding.Wiring{
		Binding:  workerd.Binding{Name: d.Name, Service: &workerd.ServiceRef{Name: "probe"}},
		Services: []workerd.Service{{Name: "probe", External: &workerd.External{Address: "unix:" + d.Resource}}},
	}
}

// TestCancelReachesTheWorker: what an event waits for learns that it ended, also
// when the event has given work to waitUntil.
func TestCancelReachesTheWorker(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(bindingtest.Dir(t), probeSocket)
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	asked, hungUp := make(chan struct{}), make(chan struct{}, 2)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
		hungUp <- struct{}{}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	set := bindingtest.OpenSet(t, nil, []binding.Kind{probe{}}, bundle.Binding{Name: "P", Kind: "probe", Resource: socket})
	w := bindingtest.Start(t, set, `export default { async scheduled(c, env, ctx) {
		ctx.waitUntil(env.P.fetch("http://p/"));
		await env.P.fetch("http://p/");
	} };`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		<-asked
		cancel()
	}()
	if r, err := w.Dispatch(ctx, svc.Event{Scheduled: &svc.Scheduled{Time: time.Now()}}); err != nil || r.Outcome != svc.OutcomeCanceled {
		t.Fatalf("%+v, %v", r, err)
	}
	<-hungUp
	<-hungUp
}

// TestNoRetry: a call of noRetry is known while the event runs, and only of the run that
// made it.
func TestNoRetry(t *testing.T) {
	t.Parallel()
	const body = `async scheduled(c) { if (c.cron === "final") c.noRetry(); console.log(typeof c.noRetry); await scheduler.wait(600_000); }`
	for name, source := range map[string]string{
		"object": "export default { " + body + " };",
		"class":  `import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { ` + body + " }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bindingtest.Start(t, bindingtest.OpenSet(t, nil, nil), source)
			ctx, cancel := context.WithCancel(t.Context())
			called, ended := make(chan string, 10), make(chan svc.EventResult)
			for _, cron := range []string{"other", "final", "another"} {
				go func() {
					e := svc.Event{Scheduled: &svc.Scheduled{Cron: cron, Time: time.UnixMilli(1_795_000_000_123)}, NoRetry: func() { called <- cron }}
					r, err := w.Dispatch(ctx, e)
					if err != nil {
						t.Error(err)
					}
					ended <- r
				}()
			}
			if cron := svctest.Wait(t, "the call", called); cron != "final" {
				t.Errorf("noRetry was called by %s", cron)
			}
			cancel()
			for range 3 {
				r := svctest.Wait(t, "the end", ended)
				for _, l := range r.Logs {
					if l.Message != "function" {
						t.Errorf("the log has %q", l.Message)
					}
				}
			}
			if len(called) > 0 {
				t.Errorf("noRetry was called by %s, too", <-called)
			}
		})
	}
}

// BenchmarkDispatch is one event, from the host to the worker and back.
func BenchmarkDispatch(b *testing.B) {
	w := bindingtest.Start(b, bindingtest.OpenSet(b, nil, nil), "export default { scheduled() {} }")
	e := svc.Event{Scheduled: &svc.Scheduled{Cron: "* * * * *", Time: time.Now()}}
	for b.Loop() {
		if r, err := w.Dispatch(b.Context(), e); err != nil || r.Outcome != svc.OutcomeOK {
			b.Fatal(r, err)
		}
	}
}
