//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

const fragile = `export default { fetch(request, env) {
	const { pathname } = new URL(request.url);
	if (pathname === "/loop") for (;;) {}
	if (pathname === "/leak") for (const all = [];;) all.push(new Array(1e6).fill(0));
	return new Response(env.VERSION_ID);
} }`

// serves waits until a URL answers with the text, without a hint to the daemon other
// than the requests.
func (d *daemon) serves(url, text string) {
	d.t.Helper()
	svctest.Succeeds(d.t, url+" to serve", func() error {
		a, err := d.try(d.t.Context(), http.MethodGet, url, "", "")
		if err == nil && (a.Status != http.StatusOK || a.Body != text) {
			err = fmt.Errorf("%d %s", a.Status, a.Body)
		}
		return err
	})
}

// runtime returns the runtime in the record of a version.
func (d *daemon) runtime(v api.Version) api.Runtime {
	d.t.Helper()
	v, err := d.client().Version(d.t.Context(), v.ProjectID, v.ID)
	if err != nil || v.Runtime == nil {
		d.t.Fatalf("%+v, %v", v, err)
	}
	return *v.Runtime
}

// TestCrashLoop ends the runtime of a production version by anonymous requests until
// it crashed five times. It comes back without help.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	d := started(t)
	v := d.deploy(worker(t, helloConfig, map[string]string{"index.js": fragile}), "--version", "v1")
	for i, path := range []string{"/leak", "/loop", "/leak", "/leak", "/leak"} {
		d.serves(v.ProdURL, "v1")
		a, err := d.try(t.Context(), http.MethodGet, v.ProdURL+path, "", "")
		if err == nil && a.Status != http.StatusBadGateway && a.Status != http.StatusServiceUnavailable {
			t.Errorf("%s answers %d %s", path, a.Status, a.Body)
		}
		svctest.Succeeds(t, "the crash to be in the record", func() error {
			if now := d.runtime(v); now.Restarts <= i {
				return fmt.Errorf("%+v", now)
			}
			return nil
		})
	}
	svctest.Succeeds(t, "the runtime to serve", func() error { // without a request to the gateway
		if now := d.runtime(v); now.State != api.RuntimeStateServing || now.RetryAt != nil {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
	if now := d.runtime(v); now.Restarts < 5 || now.LastError == "" {
		t.Errorf("the runtime is %+v", now)
	}
	d.serves(v.ProdURL, "v1")
}

// TestCrashedVersion breaks the worker of a ready version and kills its runtime. The
// version is visible as not serving, is refused where it must serve, can be forked, and
// serves again when its worker is whole.
func TestCrashedVersion(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, helloConfig, map[string]string{"index.js": fragile})
	production := d.deploy(dir, "--version", "v1")
	v := d.deploy(dir, "--version", "v2")
	module := filepath.Join(d.dataDir(), "cache", v.ProjectID, v.ID, "modules", "index.js")
	whole, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	write := func(code []byte) {
		t.Helper()
		if err := os.Chmod(module, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(module, code, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte(`throw new Error("boom")`))
	d.killRuntime(v)
	svctest.Succeeds(t, "a start to fail, and a wait", func() error {
		if now := d.runtime(v); now.State != api.RuntimeStateBackoff || now.Restarts < 6 || !strings.HasPrefix(now.LastError, "startup_exception: ") {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
	svctest.Succeeds(t, "a refusal", func() error { // a request may meet a start
		a := d.get(v.PreviewURL)
		if a.Status != http.StatusServiceUnavailable || a.Header.Get("Svc-Error") != "runtime_restarting" || a.Header.Get("Retry-After") == "" {
			return fmt.Errorf("%d %v", a.Status, a.Header)
		}
		return nil
	})
	d.downIs(v)
	for _, verb := range [][]string{{"promote", "v2", "--leave-writes"}, {"versions", "wake", "hello/v2"}} {
		out, errs, code := d.run(dir, append(verb, "-o", "json")...)
		if code != 6 || !strings.Contains(errs+out, "version_not_serving") || !strings.Contains(errs+out, "boom") {
			t.Errorf("%v: exit %d %s%s", verb, code, out, errs)
		}
	}
	if a := d.get(production.ProdURL); a.Status != http.StatusOK || a.Body != "v1" {
		t.Errorf("production answers %d %s", a.Status, a.Body)
	}
	child := d.deploy(dir, "--version", "v3", "--parent", "v2")
	d.serves(child.PreviewURL, "v3")
	write(whole)
	d.ok(dir, "versions", "wake", "hello/v2")
	d.serves(v.PreviewURL, "v2")
	d.ok(dir, "promote", "v2", "--leave-writes")
	d.serves(production.ProdURL, "v2")
	if health, err := d.client().DeepHealth(t.Context()); err != nil || health.Status != api.CheckStatusOK {
		t.Errorf("%+v, %v", health, err)
	}
}

// killRuntime kills the worker host of a version.
func (d *daemon) killRuntime(v api.Version) {
	d.t.Helper()
	routes, err := d.client().Routes(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(routes.Items, func(r api.Route) bool { return r.ProjectID == v.ProjectID && r.VersionID == v.ID && r.PID != 0 })
	if i < 0 {
		d.t.Fatalf("%s has no process: %+v", v.ID, routes.Items)
	}
	if err := syscall.Kill(routes.Items[i].PID, syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
}

// downIs checks that health, routes, metrics and the CLI show that a version does not
// serve.
func (d *daemon) downIs(v api.Version) {
	d.t.Helper()
	name := v.ProjectID + "/" + v.ID
	health, err := d.client().DeepHealth(d.t.Context())
	if err != nil || health.Status != api.CheckStatusDegraded || !slices.Equal(health.Checks.Versions.NotServing, []string{name}) {
		d.t.Errorf("health: %+v, %v", health, err)
	}
	routes, err := d.client().Routes(d.t.Context())
	if err != nil || !slices.ContainsFunc(routes.Items, func(r api.Route) bool {
		return r.VersionID == v.ID && r.Runtime != nil && r.Runtime.Restarts > 5 && strings.Contains(r.Runtime.LastError, "boom")
	}) {
		d.t.Errorf("routes: %+v, %v", routes, err)
	}
	if r := d.ask(http.MethodGet, "/metrics", d.note.AdminToken, nil); !strings.Contains(r.body, "\nsvc_versions_not_serving 1\n") {
		d.t.Errorf("metrics: %d", r.status)
	}
	if out := d.ok(d.home, "versions", "get", name); !strings.Contains(out, "crashes: ") || !strings.Contains(out, "boom") {
		d.t.Errorf("versions get: %s", out)
	}
	var list []api.Version
	if err := json.Unmarshal([]byte(d.ok(d.home, "versions", "list", "-p", v.ProjectID, "-o", "json")), &list); err != nil || list[0].Runtime == nil || list[0].Runtime.Restarts < 6 {
		d.t.Errorf("versions list: %+v, %v", list, err)
	}
}

// TestRandomKills kills processes of several versions at random, hosts and workerds, and
// those that wait for a version. Each version serves again.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_SPARE_HOSTS=1")
	dir := worker(t, helloConfig, map[string]string{"index.js": fragile})
	var versions []api.Version
	for _, id := range []string{"v1", "v2", "v3"} {
		versions = append(versions, d.deploy(dir, "--version", id))
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 12 {
		pids := append(d.pids(" runtime-host"), d.pids(workerd+" serve")...)
		for range min(2, len(pids)) {
			_ = syscall.Kill(pids[random.IntN(len(pids))], syscall.SIGKILL) // it may have ended
		}
		v := versions[random.IntN(len(versions))]
		d.serves(v.PreviewURL, v.ID)
	}
	for _, v := range versions {
		d.serves(v.PreviewURL, v.ID)
	}
	svctest.Succeeds(t, "the versions to be healthy", func() error {
		health, err := d.client().DeepHealth(t.Context())
		if err == nil && health.Status != api.CheckStatusOK {
			err = fmt.Errorf("%+v", health)
		}
		return err
	})
}
