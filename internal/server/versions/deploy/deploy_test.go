package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// spec: [C3.5] [C4.7] [C4.11] [C7.1] [C7.2] [C7.4] [C7.5] [C7.6] [C7.7] [C7.21]
func TestDeploy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	data := hello(t)
	digest := w.upload(t, ref("v1"), data)
	d.submit(t, svc.NewVersion{ID: "v1", GitRef: "main", Env: map[string]string{"A": "b"}})
	v := d.run(t, ref("v1"))
	if v.Status != svc.StatusReady || v.Digest != digest || v.SizeBytes != int64(len(data)) || v.ReadyAt.IsZero() || !v.Production {
		t.Errorf("the record is %+v", v)
	}
	var steps []string
	for _, s := range v.Timeline {
		steps = append(steps, s.Step+" "+string(s.Status)+": "+s.Detail)
	}
	if diff := cmp.Diff([]string{
		fmt.Sprintf("fetching done: %d bytes, %s", len(data), digest), "branching done: root version: nothing to fork",
		"preparing done: applied 1 migration: 0001_init.sql", "deploying done: serving on port 40001",
	}, steps); diff != "" {
		t.Errorf("the timeline (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"v1 pending", "v1 fetching", "v1 branching", "v1 preparing", "v1 deploying", "v1 deploying /run/v1.sock",
		"v1 ready starting", "hold", // requests wait: a client that reads ready is served
		"v1 ready /run/v1.sock", "production v1", "release",
	}, d.gateway.log()); diff != "" {
		t.Errorf("the calls of the gateway (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"open v1", "prepare v1", "open v1", "serve v1"}, d.runtimes.log()); diff != "" {
		t.Errorf("the calls of the supervisor (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"fetching", "branching", "preparing", "deploying", "result ready"}, d.seen.counts); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shop/v1 fetching <nil>", "shop/v1 branching <nil>", "shop/v1 preparing <nil>", "shop/v1 deploying <nil>", "shop/v1 ready"}, d.seen.spans); diff != "" {
		t.Errorf("traced (-want +got):\n%s", diff)
	}
	want := svc.RuntimeSpec{
		Ref: ref("v1"), Env: map[string]string{"A": "b"}, CreatedAt: v.CreatedAt, Tag: "main", Digest: v.Digest,
		ObjectNamespace: v.ObjectNamespace,
		Local: svc.LocalSpec{
			BundleDir: filepath.Join(w.cache(), "shop/v1"),
			DataDir:   filepath.Join(w.root, "data/shop/v1"), LogDir: filepath.Join(w.root, "logs/shop/v1"),
		},
	}
	if diff := cmp.Diff(want, d.runtimes.open[ref("v1")]); diff != "" {
		t.Errorf("the runtime's spec (-want +got):\n%s", diff)
	}
	left, err := os.ReadDir(filepath.Join(w.cache(), "shop"))
	if err != nil || len(left) != 2 {
		t.Errorf("the cache holds %v, %v; want the bundle and its mark", left, err)
	}
}

// TestSeeded: the timeline names the seed files.
func TestSeeded(t *testing.T) {
	t.Parallel()
	one := svc.SeedFile{Binding: "DB", Path: "seed/DB.sql"}
	out := svc.SeedFile{Binding: "LOG", Path: "seed/LOG.sqlite", Skipped: "the data has log already"}
	const skipped = "LOG from seed/LOG.sqlite (skipped: the data has log already); "
	for want, seeded := range map[string][]svc.SeedFile{
		"":                                       nil,
		"seeded DB from seed/DB.sql; ":           {one},
		"seeded from 99 files; ":                 slices.Repeat([]svc.SeedFile{one}, 99),
		skipped:                                  {out},
		"seeded DB from seed/DB.sql; " + skipped: {out, one},
		"seeded from 30 files; " + skipped:       append(slices.Repeat([]svc.SeedFile{one}, 30), out),
	} {
		w := newWorld(t)
		d := w.start(t, nil)
		d.runtimes.seeded = seeded
		w.upload(t, ref("v1"), hello(t))
		d.submit(t, svc.NewVersion{ID: "v1"})
		want += "applied 1 migration: 0001_init.sql"
		if v := d.run(t, ref("v1")); v.Timeline[2].Detail != want {
			t.Errorf("%d files: %q, want %q", len(seeded), v.Timeline[2].Detail, want)
		}
	}
}

// spec: [C4.6] [C5.11] [C6.10] [C13.8]
func TestSubmit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, func(deps *deploy.Deps) { deps.QueueMax = 2 })
	for name, tc := range map[string]struct {
		n    svc.NewVersion
		kind svc.Kind
		code string
	}{
		"parent":     {svc.NewVersion{Project: "shop", ParentID: "v0"}, svc.Unprocessable, "parent_not_found"},
		"project":    {svc.NewVersion{Project: "nope", ParentID: "v0"}, svc.NotFound, "project_not_found"},
		"bad id":     {svc.NewVersion{Project: "shop", ID: "V1"}, svc.Unprocessable, "invalid_id"},
		"bad digest": {svc.NewVersion{Project: "shop", Digest: "md5:1"}, svc.Unprocessable, "invalid_digest"},
		"bad env":    {svc.NewVersion{Project: "shop", Env: map[string]string{"SVC_X": ""}}, svc.Unprocessable, "env_reserved_key"},
	} {
		_, err := d.Submit(t.Context(), tc.n, svc.SubmitOptions{})
		if !errors.Is(err, tc.kind) || svc.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.submit(t, svc.NewVersion{ID: "v1"})
	d.submit(t, svc.NewVersion{ID: "v1"}) // CI retries
	d.submit(t, svc.NewVersion{ID: "v2"})
	if d.notified != 2 {
		t.Errorf("the workers were woken %d times, want 2", d.notified)
	}
	_, err := d.Submit(t.Context(), svc.NewVersion{Project: "shop", ID: "v3"}, svc.SubmitOptions{})
	if e := svc.AsError(err); svc.CodeOf(err) != "queue_full" || e.Queue == nil || e.Queue.Pending != 2 {
		t.Errorf("with a full queue: %v", err)
	}
	if got := d.gateway.answer(ref("v1")); got != http.StatusServiceUnavailable {
		t.Errorf("a pending version answers %d", got)
	}
}

// failing is a failure of one step and the record that it leaves.
type failing struct {
	data   []byte // nil: nothing is uploaded
	n      svc.NewVersion
	hook   func(ctx context.Context, call string, ref svc.Ref) error
	change func(*deploy.Deps)
	want   string // prefix of the error
	output string // of the worker
	stops  bool   // a runtime was started and must be stopped
}

func failures(t *testing.T) map[string]failing {
	t.Helper()
	breaks := func(call string, err error) func(context.Context, string, svc.Ref) error {
		return func(_ context.Context, c string, _ svc.Ref) error {
			if c == call {
				return err
			}
			return nil
		}
	}
	good := hello(t)
	short := func(d *deploy.Deps) { d.ArtifactWait = time.Millisecond }
	thrown := svc.Errorf(svc.Unprocessable, "worker_threw", "Error: no hunter2-token at index.js:1").WithHint("fix the worker").
		Printed("log: hunter2-token\nerror: no")
	return map[string]failing{
		"missing": {change: short, want: "fetching: artifact_missing: no bundle arrived within "},
		"unreadable": {
			data: good, want: "fetching: artifact_unreadable: ",
			change: func(d *deploy.Deps) {
				short(d)
				d.Artifacts = failingReads(d.Artifacts, func() error { return errors.New("connection refused") })
			},
		},
		"digest": {
			data: good, n: svc.NewVersion{Digest: "sha256:" + strings.Repeat("0", 64)},
			want: "fetching: digest_mismatch: the bundle has the digest sha256:",
		},
		"truncated": {data: good[:len(good)/2], want: "fetching: bundle_truncated: "},
		"no bundle": {data: []byte("what is this"), want: "fetching: bundle_format: "},
		"too large": {
			data: make([]byte, 17<<20), want: "fetching: bundle_too_large: the bundle has more than ",
			change: func(d *deploy.Deps) { d.Limits = bundle.Limits{Total: 1000} },
		},
		"open":    {data: good, hook: breaks("open", errors.New("fork: no memory")), want: "preparing: internal: an internal error: read the daemon's log for the cause", stops: true},
		"migrate": {data: good, hook: breaks("prepare", svc.Errorf(svc.Unprocessable, "migration_failed", "0001.sql: syntax error")), want: "preparing: migration_failed: 0001.sql: syntax error", stops: true},
		"load": {
			data: good, hook: breaks("serve", thrown), stops: true, n: svc.NewVersion{Env: map[string]string{"TOKEN": "hunter2-token"}},
			want: "deploying: worker_threw: Error: no [redacted] at index.js:1: fix the worker", output: "log: [redacted]\nerror: no",
		},
		"hangs": {
			data: good, stops: true, want: "deploying: step_timeout: the step did not finish within 1s",
			change: func(d *deploy.Deps) { d.StepLimit = time.Second },
			hook: func(ctx context.Context, c string, _ svc.Ref) error {
				if c != "serve" {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			},
		},
	}
}

// spec: [C4.12] [C7.13] [C7.17] [C7.18]
func TestEveryStepFailing(t *testing.T) {
	t.Parallel()
	for name, tc := range failures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, tc.check) // the limits are exact
		})
	}
}

func (tc failing) check(t *testing.T) {
	w := newWorld(t)
	d := w.start(t, tc.change)
	d.runtimes.hook = tc.hook
	if tc.data != nil {
		w.upload(t, ref("v1"), tc.data)
	}
	tc.n.ID = "v1"
	d.submit(t, tc.n)
	v := d.run(t, ref("v1"))
	if v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, tc.want) || v.ErrorOutput != tc.output {
		t.Errorf("%s: %q\nwant %q, and the output %q", v.Status, v.Error, tc.want, v.ErrorOutput)
	}
	if strings.Contains(v.Error, "hunter2") {
		t.Errorf("a secret is in %q", v.Error)
	}
	if d.runtimes.running() != 0 {
		t.Error("a runtime still runs")
	}
	if stopped := strings.Contains(strings.Join(d.runtimes.log(), ","), "stop"); stopped != tc.stops {
		t.Errorf("stopped: %v, want %v", stopped, tc.stops)
	}
	if got := d.gateway.routes[ref("v1")]; got != (svc.Upstream{Status: svc.StatusFailed}) {
		t.Errorf("the route is %+v", got)
	}
	if d.gateway.prod["shop"] != "" {
		t.Error("a failed version is production")
	}
	if got := d.seen.counts[len(d.seen.counts)-1]; got != "result failed" {
		t.Errorf("the last count is %q", got)
	}
	if got := d.seen.spans[len(d.seen.spans)-1]; got != "shop/v1 failed" {
		t.Errorf("the last span is %q", got)
	}
	for _, dir := range []string{"cache", "data"} {
		if left, _ := filepath.Glob(filepath.Join(w.root, dir, "shop", "*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestErrorIsClipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "serve" {
			return svc.Errorf(svc.Unprocessable, "worker_threw", "\x1b[31m%s", strings.Repeat("é", 4000))
		}
		return nil
	}
	w.upload(t, ref("v1"), hello(t))
	d.submit(t, svc.NewVersion{ID: "v1"})
	v := d.run(t, ref("v1"))
	if len(v.Error) > 2048 || len(v.Error) < 2000 || !strings.HasPrefix(v.Error, "deploying: worker_threw: [31mé") || !strings.HasSuffix(v.Error, "é…") {
		t.Errorf("%d bytes: %q", len(v.Error), v.Error)
	}
}

// TestResume: after a crash in each step the next daemon resumes there, with and
// without the cache.
func TestResume(t *testing.T) {
	t.Parallel()
	moves := []svc.Trigger{svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy, svc.TriggerActivate}
	for n := range len(moves) + 1 {
		for _, cached := range []bool{true, false} {
			w := newWorld(t)
			d := w.start(t, nil)
			v1 := d.submit(t, svc.NewVersion{ID: "v1"})
			w.upload(t, v1, hello(t))
			w.upload(t, ref("other"), hello(t))
			if cached { // the cache holds the bundle
				d.submit(t, svc.NewVersion{ID: "other"})
				d.run(t, ref("other"))
				copyBundle(t, w.cache(), "other", "v1")
			}
			registrytest.Move(t, w.DB, v1, moves[:n]...)
			next := w.start(t, nil)
			if err := next.Announce(t.Context()); err != nil {
				t.Fatal(err)
			}
			if v := next.run(t, v1); v.Status != svc.StatusReady {
				t.Errorf("after %v, cached %v: %s %s", moves[:n], cached, v.Status, v.Error)
			}
			if p, err := w.Project(t.Context(), "shop"); err != nil || p.ProdVersionID == "" {
				t.Errorf("after %v: production is %q, %v", moves[:n], p.ProdVersionID, err)
			}
			if err := next.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := next.gateway.answer(v1); got != http.StatusTeapot {
				t.Errorf("after %v, cached %v: it answers %d", moves[:n], cached, got)
			}
		}
	}
}

func copyBundle(t *testing.T, cache, from, to string) {
	t.Helper()
	dir := filepath.Join(cache, "shop")
	if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(dir, from))); err != nil {
		t.Fatal(err)
	}
	mark, err := os.ReadFile(filepath.Join(dir, from+".sha256"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, to+".sha256"), mark, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTooManyAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	registrytest.Move(t, w.DB, v1, svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare)
	if err := d.Run(t.Context(), deployqueue.Job{Ref: v1, Attempt: deploy.MaxAttempts + 1}); err != nil {
		t.Fatal(err)
	}
	if v := registrytest.Get(t, w.DB, v1); v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, "preparing: too_many_attempts: ") {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// TestDestroyedInDeploy: a version that is destroyed while it deploys leaves no
// runtime.
func TestDestroyedInDeploy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	w.upload(t, v1, hello(t))
	d.runtimes.hook = func(ctx context.Context, call string, _ svc.Ref) (err error) {
		if call == "serve" {
			_, err = w.Move(ctx, v1, svc.TriggerDestroy, svc.Change{})
		}
		return err
	}
	if v := d.run(t, v1); v.Status != svc.StatusDestroyed {
		t.Errorf("it is %s", v.Status)
	}
	if d.runtimes.running() != 0 {
		t.Error("its runtime still runs")
	}
	d.run(t, v1) // a repeat of the job
	if err := d.Run(t.Context(), deployqueue.Job{Ref: ref("unknown"), Attempt: 1}); err != nil {
		t.Errorf("a job of an unknown version: %v", err)
	}
}

// TestShutdown: a shutdown in a step is not a failure; the next start resumes there.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for call, status := range map[string]svc.Status{
		"fetch": svc.StatusFetching, "open": svc.StatusPreparing, "prepare": svc.StatusPreparing, "serve": svc.StatusDeploying,
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, cancel := context.WithCancel(t.Context())
			stop := func(c string) error {
				if c != call {
					return nil
				}
				cancel()
				return svc.Errorf(svc.Unavailable, "shutting_down", "bye")
			}
			d := w.start(t, func(deps *deploy.Deps) {
				deps.Artifacts = failingReads(deps.Artifacts, func() error { return stop("fetch") })
			})
			d.runtimes.hook = func(_ context.Context, c string, _ svc.Ref) error { return stop(c) }
			v1 := d.submit(t, svc.NewVersion{ID: "v1"})
			w.upload(t, v1, hello(t))
			err := d.Run(ctx, deployqueue.Job{Ref: v1, Attempt: 1})
			if v := registrytest.Get(t, w.DB, v1); !errors.Is(err, context.Canceled) || v.Status != status || v.Error != "" {
				t.Errorf("%v; %s %q", err, v.Status, v.Error)
			}
			next := w.start(t, nil)
			if v := next.run(t, v1); v.Status != svc.StatusReady {
				t.Errorf("after the next start: %s %q", v.Status, v.Error)
			}
		})
	}
}

// spec: [C3.5]
func TestParallelFirstVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	var wg sync.WaitGroup
	for _, id := range []string{"a", "b", "c", "d"} {
		w.upload(t, ref(id), hello(t))
		d.submit(t, svc.NewVersion{ID: id})
		wg.Go(func() {
			if err := d.Run(t.Context(), deployqueue.Job{Ref: ref(id), Attempt: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	ready, err := w.VersionsByStatus(t.Context(), svc.StatusReady)
	if err != nil || len(ready) != 4 || !ready[0].Production || ready[1].Production {
		t.Errorf("ready: %+v, %v", ready, err)
	}
	if got := d.gateway.prod["shop"]; got != ready[0].Version {
		t.Errorf("the gateway's production is %q, the registry's %q", got, ready[0].Version)
	}
}

// spec: [C7.19] [C16.8]
func TestVerify(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		secret  string
		lenient bool
		status  svc.Status
	}{
		"passes":     {verifySecret, false, svc.StatusReady},
		"is refused": {"wrong", false, svc.StatusFailed},
		"lenient":    {"wrong", true, svc.StatusReady},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var server *httptest.Server
			d := w.start(t, func(deps *deploy.Deps) {
				gateway, ok := deps.Gateway.(*fakeGateway)
				if !ok {
					t.Fatal("not our gateway")
				}
				server = httptest.NewServer(gateway)
				deps.Verify = deploy.Verify{URL: server.URL, Header: verifyHeader, Secret: svc.Secret(tc.secret)}
				deps.HTTP, deps.Lenient = server.Client(), tc.lenient
			})
			t.Cleanup(server.Close)
			v1 := d.submit(t, svc.NewVersion{ID: "v1"})
			w.upload(t, v1, hello(t))
			v := d.run(t, v1)
			if v.Status != tc.status || tc.status == svc.StatusFailed && !strings.HasPrefix(v.Error,
				`deploying: verify_failed: the probe through the gateway failed: the answer for v1.shop.ingress.local was 503`) {
				t.Errorf("%s %q", v.Status, v.Error)
			}
			if tc.lenient && (len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], "deploying: verify_failed: ")) {
				t.Errorf("warnings %q", v.Warnings)
			}
		})
	}
}

// TestQualify: with SVC_ELASTIC_RUNTIME a version is deploy_ready while its worker is
// asked as production, and no visitor reaches it before it is ready; without it, the
// status does not appear.
// spec: [C7.6] [C7.22] [C16.25]
func TestQualify(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		secret string
		status svc.Status
	}{"passes": {verifySecret, svc.StatusReady}, "fails": {"wrong", svc.StatusFailed}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var seen []string
			d := w.start(t, func(deps *deploy.Deps) {
				gateway, ok := deps.Gateway.(*fakeGateway)
				if !ok {
					t.Fatal("not our gateway")
				}
				server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					seen = append(seen, string(registrytest.Get(t, w.DB, ref("v1")).Status)+" "+http.StatusText(gateway.answer(ref("v1"))))
					gateway.ServeHTTP(rw, r)
				}))
				t.Cleanup(server.Close)
				deps.Qualify = deploy.Qualify{
					Verify: deploy.Verify{URL: server.URL, Header: verifyHeader, Secret: svc.Secret(tc.secret)}, RouteHeader: routeHeader,
				}
				deps.HTTP = server.Client()
			})
			v1 := d.submit(t, svc.NewVersion{ID: "v1"})
			w.upload(t, v1, hello(t))
			v := d.run(t, v1)
			if v.Status != tc.status || len(seen) == 0 || seen[0] != "deploy_ready Service Unavailable" {
				t.Errorf("%s %q, asked when it was %q", v.Status, v.Error, seen)
			}
			last := v.Timeline[len(v.Timeline)-1]
			if last.Step != "deploy_ready" || tc.status == svc.StatusReady && last.Detail != "answered as shop.ingress.local" ||
				tc.status == svc.StatusFailed && !strings.HasPrefix(v.Error, "deploy_ready: verify_failed: ") {
				t.Errorf("the last step is %+v, the error %q", last, v.Error)
			}
		})
	}
}

// spec: [C7.19]
func TestLenient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lenient := func(d *deploy.Deps) { d.Lenient, d.ArtifactWait = true, time.Millisecond }
	d := w.start(t, lenient)
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if call == "prepare" {
			return svc.Errorf(svc.Unprocessable, "migration_failed", "0001.sql: syntax error")
		}
		return nil
	}
	v1 := d.submit(t, svc.NewVersion{ID: "v1", Digest: "sha256:" + strings.Repeat("0", 64)})
	w.upload(t, v1, hello(t))
	v := d.run(t, v1)
	if v.Status != svc.StatusReady || len(v.Warnings) != 2 ||
		!strings.HasPrefix(v.Warnings[0], "fetching: digest_mismatch: ") || !strings.HasPrefix(v.Warnings[1], "preparing: migration_failed: ") {
		t.Errorf("%s %q, warnings %q", v.Status, v.Error, v.Warnings)
	}
	if diff := cmp.Diff([]string{
		"tolerated fetching", "fetching", "branching", "preparing", "tolerated preparing", "deploying", "result ready",
	}, d.seen.counts); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	v2 := d.submit(t, svc.NewVersion{ID: "v2"}) // no bundle at all
	if v := d.run(t, v2); v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, "fetching: artifact_missing: ") {
		t.Errorf("%s %q", v.Status, v.Error)
	}
	next := w.start(t, lenient)
	if err := next.Restore(t.Context()); err != nil || next.gateway.answer(v1) != http.StatusTeapot {
		t.Errorf("after a restart: %v, it answers %d", err, next.gateway.answer(v1))
	}
}
