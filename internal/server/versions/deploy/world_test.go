package deploy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	verifyHeader = "X-Test-Verify"
	verifySecret = "probe secret"
	routeHeader  = "X-Test-Route"
)

// world is the state that outlives a daemon: registry, bucket and directories.
type world struct {
	*registry.DB
	bucket   *memstore.Bucket
	branches *branches
	root     string
	ingress  *svc.Ingress
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "ingress.local", Port: 8787})
	if err != nil {
		t.Fatal(err)
	}
	return &world{DB: registrytest.Open(t, "shop"), bucket: &memstore.Bucket{}, branches: newBranches(filepath.Join(root, "data")), root: root, ingress: ingress}
}

// submissions adapts the registry to deploy.Submissions.
type submissions struct{ *registry.DB }

func (s submissions) CreateVersion(ctx context.Context, n svc.NewVersion, o svc.CreateOptions) (svc.Version, bool, error) {
	return s.DB.CreateVersion(ctx, n, o)
}

// daemon is a Service over a world, with fakes of its neighbors.
type daemon struct {
	*deploy.Service
	*world
	promote  *promote.Service
	runtimes *runtimes
	gateway  *fakeGateway
	seen     *observer
	notified int
}

func (w *world) start(t *testing.T, change func(*deploy.Deps)) *daemon {
	t.Helper()
	d := &daemon{world: w, runtimes: newRuntimes(), gateway: newFakeGateway(w.ingress), seen: &observer{}}
	logger := slog.New(slog.DiscardHandler)
	var err error
	d.promote, err = promote.New(promote.Deps{
		Projects: w, Versions: w, Promotions: w, Journals: w, Gateway: d.gateway, Websockets: d.gateway, Routes: d, Runtimes: d,
		Bucket: &memstore.Bucket{}, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	deps := deploy.Deps{
		Versions: w, Inventory: w, Submissions: submissions{w.DB}, Runtimes: d.runtimes, Branches: w.branches,
		Gateway: d.gateway, Production: d.promote,
		Artifacts: w.bucket, BundleKeys: bundle.Keys, Assets: assetstore.New(assetstore.Config{Bucket: w.bucket, Dir: w.cache()}), Ingress: w.ingress, Logger: logger, Notify: func() { d.notified++ }, Observer: d.seen, Traces: d.seen,
		Dirs:         deploy.Dirs{Cache: w.cache(), Data: filepath.Join(w.root, "data"), Logs: filepath.Join(w.root, "logs")},
		ArtifactWait: time.Minute,
	}
	if change != nil {
		change(&deps)
	}
	if d.Service, err = deploy.New(deps); err != nil {
		t.Fatal(err)
	}
	d.runtimes.report = d.RuntimeChanged
	return d
}

// bundle is where the bundle of a version is unpacked.
func (w *world) bundle(id string) string { return filepath.Join(w.cache(), "shop", id) }

func (w *world) cache() string { return filepath.Join(w.root, "cache") }

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// submit creates a version through the service.
func (d *daemon) submit(t *testing.T, n svc.NewVersion) svc.Ref {
	t.Helper()
	n.Project = "shop"
	v, err := d.Submit(t.Context(), n, svc.SubmitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return v.Ref
}

// run runs a version's job to its end.
func (d *daemon) run(t *testing.T, ref svc.Ref) svc.Version {
	t.Helper()
	if err := d.job(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	return registrytest.Get(t, d.DB, ref)
}

// job runs a version's job like the queue: it waits when the job snoozes.
func (d *daemon) job(ctx context.Context, ref svc.Ref) error {
	for {
		err := d.Run(ctx, deployqueue.Job{Ref: ref, Attempt: 1})
		var snooze *deployqueue.SnoozeError
		if !errors.As(err, &snooze) {
			return err
		}
		waiting, cancel := context.WithDeadline(ctx, snooze.Until)
		snooze.Wait(waiting)
		cancel()
	}
}

// upload stores a bundle in the bucket and returns its digest.
func (w *world) upload(t *testing.T, ref svc.Ref, data []byte) string {
	t.Helper()
	w.put(t, ref.Project+"/"+ref.Version+"/bundle.tar.zst", data)
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (w *world) put(t *testing.T, key string, data []byte) {
	t.Helper()
	if _, err := w.bucket.Put(t.Context(), key, bytes.NewReader(data), int64(len(data)), objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
}

// hello returns a small valid bundle.
func hello(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := bundle.Pack(&b, bundle.Manifest{
		Main: "index.js", Modules: []bundle.Module{{Name: "index.js", Type: bundle.ESModule}}, CompatibilityDate: "2026-11-01",
	}, bundle.Tree{"modules/index.js": []byte(`export default { fetch() { return new Response("hello") } }`)})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// runtimes is a fake supervisor without processes.
type runtimes struct {
	report func(svc.Runtime)
	hook   func(ctx context.Context, call string, ref svc.Ref) error // before each call; nil: none
	seeded []svc.SeedFile                                            // result of Prepare

	mu    sync.Mutex
	open  map[svc.Ref]svc.RuntimeSpec
	up    map[svc.Ref]svc.Endpoint
	calls []string
	pid   int
}

func newRuntimes() *runtimes {
	return &runtimes{open: map[svc.Ref]svc.RuntimeSpec{}, up: map[svc.Ref]svc.Endpoint{}}
}

func (r *runtimes) call(ctx context.Context, name string, ref svc.Ref) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	r.calls = append(r.calls, name+" "+ref.Version)
	r.mu.Unlock()
	if r.hook == nil {
		return nil
	}
	return r.hook(ctx, name, ref)
}

func (r *runtimes) Open(ctx context.Context, spec svc.RuntimeSpec) error {
	if err := r.call(ctx, "open", spec.Ref); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(spec.Local.BundleDir, "manifest.json")); err != nil {
		return fmt.Errorf("no bundle: %w", err)
	}
	if err := os.MkdirAll(spec.Local.DataDir, 0o700); err != nil {
		return err
	}
	r.mu.Lock()
	r.open[spec.Ref] = spec
	r.mu.Unlock()
	r.report(svc.Runtime{Ref: spec.Ref, State: svc.RuntimeStarting})
	return nil
}

func (r *runtimes) isOpen(ref svc.Ref) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.open[ref]; !ok {
		return svc.Errorf(svc.Conflict, "runtime_not_open", "not open")
	}
	return nil
}

func (r *runtimes) Prepare(ctx context.Context, ref svc.Ref) (svc.Prepared, error) {
	if err := r.call(ctx, "prepare", ref); err != nil {
		return svc.Prepared{}, err
	}
	return svc.Prepared{Seeded: r.seeded, Applied: []string{"0001_init.sql"}}, r.isOpen(ref)
}

func (r *runtimes) Serve(ctx context.Context, ref svc.Ref) (svc.Endpoint, error) {
	if err := r.call(ctx, "serve", ref); err != nil {
		return svc.Endpoint{}, err
	}
	if err := r.isOpen(ref); err != nil {
		return svc.Endpoint{}, err
	}
	r.mu.Lock()
	r.pid++
	e := svc.Endpoint{Socket: "/run/" + ref.Version + ".sock", Port: 40000 + r.pid, PID: r.pid}
	r.up[ref] = e
	r.mu.Unlock()
	r.report(svc.Runtime{Ref: ref, State: svc.RuntimeServing, Endpoint: e})
	return e, nil
}

func (r *runtimes) StopVersion(ctx context.Context, ref svc.Ref) error {
	if err := r.call(ctx, "stop", ref); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.open, ref)
	delete(r.up, ref)
	r.mu.Unlock()
	r.report(svc.Runtime{Ref: ref, State: svc.RuntimeStopped})
	return nil
}

// Sleep says that the version must run in an hour.
func (r *runtimes) Sleep(ctx context.Context, ref svc.Ref) (svc.Wake, error) {
	if err := r.call(ctx, "sleep", ref); err != nil {
		return svc.Wake{}, err
	}
	if err := r.isOpen(ref); err != nil {
		return svc.Wake{}, err
	}
	r.mu.Lock()
	delete(r.open, ref)
	delete(r.up, ref)
	r.mu.Unlock()
	r.report(svc.Runtime{Ref: ref, State: svc.RuntimeAsleep})
	return svc.Wake{At: time.Now().Add(time.Hour)}, nil
}

func (r *runtimes) ShowFiles(ctx context.Context, ref svc.Ref, dir string) error {
	return r.call(ctx, "files of "+filepath.Base(dir)+" in", ref)
}

func (r *runtimes) Stage(ctx context.Context, spec svc.RuntimeSpec) error {
	if spec.Parent == "" {
		return errors.New("the host cannot read the parent ahead")
	}
	return r.call(ctx, "stage", spec.Ref)
}

func (r *runtimes) Retire(ctx context.Context, ref svc.Ref) error {
	_, err := r.Sleep(ctx, ref)
	return err
}

func (*runtimes) Positions(context.Context, svc.Ref) (control.Positions, error) {
	return control.Positions{"sys": 7}, nil
}

// Restart reports a wait of an hour.
func (r *runtimes) Restart(ctx context.Context, ref svc.Ref, _ error) error {
	if err := r.call(ctx, "restart", ref); err != nil {
		return err
	}
	if err := r.isOpen(ref); err != nil {
		return err
	}
	r.report(svc.Runtime{Ref: ref, State: svc.RuntimeBackoff, RetryAt: time.Now().Add(time.Hour)})
	return nil
}

func (r *runtimes) Revive(ctx context.Context, ref svc.Ref) error {
	if err := r.call(ctx, "revive", ref); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.up[ref]; !ok {
		return svc.Errorf(svc.Conflict, "runtime_not_open", "not open")
	}
	return nil
}

func (r *runtimes) log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *runtimes) running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

func (*fakeGateway) CutOver(string) svc.CutOver { return svc.CutOver{} }

// fakeGateway answers requests from the routes that deploy published.
type fakeGateway struct {
	ingress *svc.Ingress

	mu     sync.Mutex
	routes map[svc.Ref]svc.Upstream
	prod   map[string]string
	held   bool
	events []string
	used   []time.Time // what LastRequest returns, one after the other; the zero time after the last
}

func newFakeGateway(in *svc.Ingress) *fakeGateway {
	return &fakeGateway{ingress: in, routes: map[svc.Ref]svc.Upstream{}, prod: map[string]string{}}
}

func (g *fakeGateway) SetVersion(ref svc.Ref, r svc.Upstream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if old, ok := g.routes[ref]; ok && old == r {
		return
	}
	g.routes[ref] = r
	event := ref.Version + " " + string(r.Status)
	if r.Starting {
		event += " starting"
	}
	if r.Asleep {
		event += " asleep"
	}
	if !r.RetryAt.IsZero() {
		event += " waits"
	}
	if r.Socket != "" {
		event += " " + r.Socket
	}
	g.events = append(g.events, event)
}

func (g *fakeGateway) RemoveVersion(ref svc.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.routes, ref)
	g.events = append(g.events, ref.Version+" removed")
}

func (g *fakeGateway) SetProduction(project, version string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prod[project] = version
	g.events = append(g.events, "production "+version)
}

func (g *fakeGateway) Hold(string)    { g.setHeld(true, "hold") }
func (g *fakeGateway) Release(string) { g.setHeld(false, "release") }

func (g *fakeGateway) setHeld(held bool, event string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != held {
		g.held = held
		g.events = append(g.events, event)
	}
}

func (*fakeGateway) DrainVersion(context.Context, svc.Ref) error      { return nil }
func (*fakeGateway) Unshare(string)                                   {}
func (*fakeGateway) Share(string)                                     {}
func (*fakeGateway) SettleProduction(context.Context, string) error   { return nil }
func (*fakeGateway) DrainProduction(context.Context, string) error    { return nil }
func (*fakeGateway) CloseWebsockets(svc.Ref, svc.Role, time.Duration) {}

// LastRequest returns what the test says.
func (g *fakeGateway) LastRequest(svc.Ref) (at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.used) > 0 {
		at, g.used = g.used[0], g.used[1:]
	}
	return at
}

func (g *fakeGateway) log() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events)
}

// answer returns the HTTP status of a request to a version's preview host name.
func (g *fakeGateway) answer(ref svc.Ref) int {
	req := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	req.Host = g.ingress.PreviewHost(ref)
	rec := httptest.NewRecorder()
	g.ServeHTTP(rec, req)
	return rec.Code
}

func (g *fakeGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ref, _, _ := g.ingress.ParseHost(r.Host)
	if project, version, ok := strings.Cut(r.Header.Get(routeHeader), "/"); ok && r.Header.Get(verifyHeader) == verifySecret {
		if r.Host != g.ingress.ProdHost(project) {
			w.WriteHeader(http.StatusMisdirectedRequest)
			return
		}
		ref = svc.Ref{Project: project, Version: version}
	}
	g.mu.Lock()
	route, known := g.routes[ref]
	g.mu.Unlock()
	reachable := route.Status.Serves() || route.Socket != "" && r.Header.Get(verifyHeader) == verifySecret
	switch {
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case !reachable, route.Starting, !route.RetryAt.IsZero():
		w.WriteHeader(http.StatusServiceUnavailable)
	case route.Socket == "":
		w.WriteHeader(http.StatusBadGateway)
	default:
		w.Header().Set("Svc-Version", ref.Version)
		w.WriteHeader(http.StatusTeapot) // from the worker
	}
}

// observer records what was counted and traced.
type observer struct {
	mu     sync.Mutex
	counts []string
	spans  []string
}

func (o *observer) add(s string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts = append(o.counts, s)
}

func (o *observer) StepDone(step string, _ time.Duration) { o.add(step) }
func (o *observer) StepTolerated(step string)             { o.add("tolerated " + step) }
func (o *observer) DeployDone(result string)              { o.add("result " + result) }
func (o *observer) RouseDone(time.Duration)               { o.add("roused") }

func (o *observer) StepEnded(v svc.Version, step string, _ time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spans = append(o.spans, fmt.Sprint(v.Ref, " ", step, " ", err))
}

func (o *observer) DeployEnded(v svc.Version, result string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spans = append(o.spans, fmt.Sprint(v.Ref, " ", result))
}

// failingReads is a bucket whose reads fail with what fail returns.
func failingReads(b objstore.Bucket, fail func() error) objstore.Bucket {
	return objstoretest.Fail(b, func(op objstoretest.Op, _ string) error {
		if op == objstoretest.Get || op == objstoretest.Stat {
			return fail()
		}
		return nil
	})
}
