//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// runs waits until exactly this number of versions have their two processes.
func (w *world) runs(versions int) {
	w.t.Helper()
	svctest.Succeeds(w.t, fmt.Sprintf("%d versions to run", versions), func() error {
		if hosts, workers, stores := w.kinds(); hosts != versions || workers != versions || stores != 1 {
			return fmt.Errorf("%d hosts, %d workerds, %d stores", hosts, workers, stores)
		}
		return nil
	})
}

// refused runs a command that must fail and checks its error.
func (w *world) refused(exit int, says string, args ...string) {
	w.t.Helper()
	out, errs, code := w.run(w.home, args...)
	if code != exit || !strings.Contains(errs, says) {
		w.t.Errorf("svcctl %s: exit %d, want %d with %q\n%s%s", strings.Join(args, " "), code, exit, says, errs, out)
	}
}

// answers checks the answer of a preview host.
func (w *world) answers(url string, status int, code string) {
	w.t.Helper()
	if a := w.get(url); a.Status != status || a.Header.Get("Svc-Error") != code {
		w.t.Errorf("%s: %d %q %s, want %d %q", url, a.Status, a.Header.Get("Svc-Error"), a.Body, status, code)
	}
}

// files lists the files of a version of the guestbook.
func (w *world) files(version string) (found []string) {
	w.t.Helper()
	for _, kind := range []string{"cache", "logs", "versions"} {
		names, err := filepath.Glob(filepath.Join(w.dataDir(), kind, book, version+"*"))
		if err != nil {
			w.t.Fatal(err)
		}
		found = append(found, names...)
	}
	return found
}

// removed checks that only the tombstone of a version of the guestbook is left.
func (w *world) removed(version string) {
	w.t.Helper()
	if found := w.files(version); len(found) > 0 {
		w.t.Errorf("left on disk: %v", found)
	}
	_, err := w.objects("svc-artifacts").Stat(w.t.Context(), book+"/"+version+"/bundle.tar.zst")
	if !errors.Is(err, objstore.ErrNotExist) {
		w.t.Errorf("the bundle is still there: %v", err)
	}
	v, err := w.client().Version(w.t.Context(), book, version)
	if err != nil || v.Status != api.VersionStatusDestroyed {
		w.t.Errorf("the tombstone: %+v, %v", v, err)
	}
	w.answers(v.PreviewURL, 404, "route_not_found")
}

// TestLifecycle runs the lifecycle commands on a version, from deploy to destroy.
// spec: [C1.7] [C2.1] [C2.4] [C6.9] [C7.11] [C8.13] [C9.1] [C9.2] [C9.7] [C9.10] [C9.11]
func TestLifecycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_ARTIFACT_WAIT=200ms")
	w.add(at(book, "v2"))
	v2 := w.ended(book, "v2")
	w.refused(6, "version_is_production", "versions", "archive", book+"/v1", "-o", "json")
	w.ok(w.home, "versions", "archive", book+"/v2")
	w.ok(w.home, "versions", "archive", book+"/v2")
	w.answers(v2.PreviewURL, 503, "version_archived")
	w.runs(1)
	w.refused(6, "wake it first", "promote", book+"/v2", "--leave-writes")

	if err := os.RemoveAll(filepath.Join(w.dataDir(), "cache")); err != nil { // it may vanish at any time
		t.Fatal(err)
	}
	w.ok(w.home, "versions", "wake", book+"/v2")
	woken := w.ended(book, "v2")
	if woken.WokenAt == nil || !woken.ReadyAt.Equal(v2.ReadyAt.Time) {
		t.Errorf("ready at %v, then %v; woken at %v", v2.ReadyAt, woken.ReadyAt, woken.WokenAt)
	}
	w.checkData(woken)
	w.write(woken, "after the wake")
	w.checkData(woken)
	w.runs(2)

	w.ok(w.home, "versions", "pin", book+"/v2")
	if v := w.ended(book, "v2"); !v.Pinned {
		t.Error("it is not pinned")
	}
	w.ok(w.home, "versions", "archive", book+"/v2") // a pin guards against the idle ticker only [D18]
	w.ok(w.home, "versions", "unpin", book+"/v2")

	w.refused(2, "--yes", "versions", "delete", book+"/v2")
	w.refused(6, "promote another version first", "versions", "delete", "--yes", book+"/v1")
	w.ok(w.home, "versions", "delete", "--yes", book+"/v2")
	w.ok(w.home, "versions", "delete", "--yes", book+"/v2")
	w.removed("v2")
	for _, verb := range []string{"archive", "wake", "pin", "unpin"} {
		w.refused(5, "version_destroyed", "versions", verb, book+"/v2", "-o", "json")
	}
	w.refused(5, "version_destroyed", "promote", book+"/v2", "--leave-writes", "-o", "json")
	if out := w.ok(w.home, "versions", "list", "-p", book); strings.Contains(out, "v2") {
		t.Errorf("the list shows the destroyed:\n%s", out)
	}
	if out := w.ok(w.home, "versions", "list", "-p", book, "--status", "destroyed"); !strings.Contains(out, "v2") {
		t.Errorf("asked for, the list hides the destroyed:\n%s", out)
	}
	w.runs(1)
}

// TestWakeFails: without its bundle a version cannot start; it is archived
// again, without a process, and can be woken once the bundle is back.
func TestWakeFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_ARTIFACT_WAIT=200ms")
	w.add(at(book, "v2"))
	w.ok(w.home, "versions", "archive", book+"/v2")
	if err := os.RemoveAll(filepath.Join(w.dataDir(), "cache")); err != nil {
		t.Fatal(err)
	}
	if err := w.objects("svc-artifacts").Delete(t.Context(), book+"/v2/bundle.tar.zst"); err != nil {
		t.Fatal(err)
	}
	w.refused(1, "artifact_missing", "versions", "wake", book+"/v2")
	v, err := w.client().Version(t.Context(), book, "v2")
	if err != nil || v.Status != api.VersionStatusArchived || v.WokenAt != nil {
		t.Errorf("%+v, %v", v, err)
	}
	w.answers(v.PreviewURL, 503, "version_archived")
	w.runs(1)
	w.upload(at(book, "v2"), guestbookBundle(t))
	w.ok(w.home, "versions", "wake", book+"/v2")
	w.checkData(w.ended(book, "v2"))
}

// TestArchiveUnderLoad: every request is answered whole by the worker, or
// refused by the gateway as one for an archived version.
// spec: [C6.9] [C9.7]
func TestArchiveUnderLoad(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.deploy(hello(t, "production"), "--version", "v1")
	v2 := d.deploy(worker(t, helloConfig, map[string]string{"index.js": `export default { async fetch() {
		await scheduler.wait(50)
		const body = new TransformStream()
		const w = body.writable.getWriter()
		const write = async () => { for (let i = 0; i < 5; i++) { await w.write(new TextEncoder().encode("part ")); await scheduler.wait(20) } await w.close() }
		write()
		return new Response(body.readable)
	} }`}), "--version", "v2")
	whole := strings.Repeat("part ", 5)
	var served, refused atomic.Int64
	var over atomic.Bool
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for !over.Load() {
				a, err := d.try(t.Context(), http.MethodGet, v2.PreviewURL, "", "")
				switch {
				case err == nil && a.Status == 200 && a.Body == whole:
					served.Add(1)
				case err == nil && a.Status == 503 && slices.Contains([]string{"version_archived", "version_not_ready"}, a.Header.Get("Svc-Error")):
					refused.Add(1)
				default:
					t.Errorf("%d %s %q, %v", a.Status, a.Header.Get("Svc-Error"), a.Body, err)
					return
				}
			}
		})
	}
	grows := func(what string, n *atomic.Int64) {
		t.Helper()
		enough := n.Load() + 20
		svctest.Succeeds(d.t, what, func() error {
			if n.Load() < enough && !t.Failed() {
				return fmt.Errorf("%d of %d", n.Load(), enough)
			}
			return nil
		})
	}
	for range 3 {
		grows("requests to be served", &served)
		if _, err := d.client().Archive(t.Context(), "hello", "v2"); err != nil {
			t.Error(err)
		}
		grows("requests to be refused", &refused)
		if _, err := d.client().Wake(t.Context(), "hello", "v2"); err != nil {
			t.Error(err)
		}
	}
	grows("requests to be served", &served)
	over.Store(true)
	clients.Wait()
}

// TestDestroyDuringDeploy destroys versions during the two steps that may last:
// while the bundle is awaited, and while the worker starts.
// spec: [C9.10]
func TestDestroyDuringDeploy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_WORKER_START_TIMEOUT=10m", "SVC_ARTIFACT_WAIT=10m")
	reaches := func(version string, status api.VersionStatus) {
		t.Helper()
		svctest.Succeeds(w.t, version+" to be "+string(status), func() error {
			v, err := w.client().Version(t.Context(), book, version)
			if err == nil && v.Status != status {
				err = fmt.Errorf("it is %s (%s)", v.Status, v.Error)
			}
			return err
		})
	}
	destroy := func(version string) {
		t.Helper()
		begun := time.Now()
		v, err := w.client().Destroy(t.Context(), book, version)
		if err != nil || v.Status != api.VersionStatusDestroyed || time.Since(begun) > svctest.Patience {
			t.Errorf("%+v, %v, after %s", v, err, time.Since(begun))
		}
		w.removed(version)
		w.runs(1)
	}
	if _, err := w.client().CreateVersion(t.Context(), book, api.CreateVersion{ID: "late"}, ""); err != nil {
		t.Fatal(err)
	}
	reaches("late", api.VersionStatusFetching)
	destroy("late")

	stuck := worker(t, helloConfig, map[string]string{"index.js": `export default {}; for (;;);`})
	w.upload(at(book, "stuck"), []byte(w.ok(stuck, "bundle", "-O", "-")))
	if _, err := w.client().CreateVersion(t.Context(), book, api.CreateVersion{ID: "stuck"}, ""); err != nil {
		t.Fatal(err)
	}
	reaches("stuck", api.VersionStatusDeploying)
	destroy("stuck")
	w.settlesBut(svc.StatusDestroyed)
}

// settlesBut waits until no job is left and every version is ready or has the
// status.
func (w *world) settlesBut(status svc.Status) {
	w.t.Helper()
	svctest.Succeeds(w.t, "the work to end", func() error {
		health, err := w.client().DeepHealth(w.t.Context())
		if err == nil && health.Checks.Queue.PendingJobs > 0 {
			err = fmt.Errorf("%d jobs", health.Checks.Queue.PendingJobs)
		}
		for v, err := range w.client().AllVersions(w.t.Context(), book, "") {
			if err != nil || v.Status != api.VersionStatusReady && v.Status != api.VersionStatus(status) {
				return fmt.Errorf("%s is %s, %w", v.ID, v.Status, err)
			}
		}
		return err
	})
}

// TestFaultsLifecycle kills the daemon at every place of archive and wake, one
// after the other, always the same version. Each time it is ready and serves,
// or archived without a process, and its data is complete.
func TestFaultsLifecycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(at(book, "v2"))
	archive := func() error { _, err := w.client().Archive(t.Context(), book, "v2"); return err }
	wake := func() error { _, err := w.client().Wake(t.Context(), book, "v2"); return err }
	for _, step := range []struct {
		point string
		verb  func() error
		after api.VersionStatus // once the daemon is back
	}{
		{"archive/started", archive, api.VersionStatusReady},
		{"archive/moved", archive, api.VersionStatusArchived},
		{"wake/started", wake, api.VersionStatusArchived},
		{"wake/moved", wake, api.VersionStatusReady},
		{"archive/stopped", archive, api.VersionStatusArchived},
		{"archive/shipped", archive, api.VersionStatusArchived},
		{"wake/served", wake, api.VersionStatusReady},
		{"wake/done", func() error { return errors.Join(archive(), wake()) }, api.VersionStatusReady},
	} {
		w.kill() // any state of the step before is allowed
		w.noProcessesLeft()
		if !w.start("SVC_FAILPOINT=lifecycle/" + step.point) {
			t.Fatalf("%s: the daemon ended", step.point)
		}
		w.settlesBut(svc.StatusArchived)
		if err := step.verb(); !errors.Is(err, client.ErrUnreachable) {
			t.Fatalf("%s: %v", step.point, err)
		}
		w.restart()
		w.settlesBut(svc.StatusArchived)
		v, err := w.client().Version(t.Context(), book, "v2")
		if err != nil || v.Status != step.after {
			t.Fatalf("after %s it is %s, %v; want %s", step.point, v.Status, err, step.after)
		}
		if v.Status == api.VersionStatusArchived {
			w.runs(1)
			w.answers(v.PreviewURL, 503, "version_archived")
		} else {
			w.runs(2)
			w.checkData(v)
		}
	}
	w.check("v1")
}

// TestFaultsDestroy kills the daemon at every place of one destroy: each start
// continues where the last one was killed.
func TestFaultsDestroy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(at(book, "v2"))
	for i, point := range []string{"started", "moved", "stopped", "emptied", "removed"} {
		w.kill()
		w.noProcessesLeft()
		w.start("SVC_FAILPOINT=lifecycle/destroy/" + point) // from the third on, the start itself ends the daemon
		if i < 2 {
			if v := w.ended(book, "v2"); v.Status != api.VersionStatusReady {
				t.Fatalf("before %s it is %s", point, v.Status)
			}
			if _, err := w.client().Destroy(t.Context(), book, "v2"); !errors.Is(err, client.ErrUnreachable) {
				t.Fatal(err)
			}
		}
		w.died()
	}
	w.noProcessesLeft()
	if !w.start() {
		t.Fatal("the daemon ended")
	}
	svctest.Succeeds(w.t, "the files to go", func() error {
		if left := w.files("v2"); len(left) > 0 {
			return fmt.Errorf("%v", left)
		}
		return nil
	})
	if _, err := w.client().Destroy(t.Context(), book, "v2"); err != nil { // a repeat, and the end of what Resume does
		t.Error(err)
	}
	w.removed("v2")
	w.runs(1)
	delete(w.want, at(book, "v2"))
	w.checkProductions("v1")
	w.checkRegistry()
}

// A version that is being archived still answers earlier requests. A fork made
// meanwhile gets its data of that time, and no process or file remains.
// spec: [C2.10] [C2.13]
func TestForkWhileArchiving(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.deploy(hello(t, "production"), "--version", "v1")
	notes := worker(t, `{ "name": "hello", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }] }`,
		map[string]string{"index.js": `export default { async fetch(req, env) {
			if (req.method === "PUT") await env.KV.put("note", await req.text())
			return new Response(await env.KV.get("note"))
		} }`})
	v2 := d.deploy(notes, "--version", "v2")
	if a := d.do(http.MethodPut, v2.PreviewURL, "", "early"); a.Body != "early" {
		t.Fatalf("%+v", a)
	}
	body, send := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, v2.PreviewURL, body)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() {
		resp, err := d.http().Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		answered <- fmt.Sprint(resp.StatusCode, " ", string(text), " ", err)
	}()
	if _, err := send.Write([]byte("la")); err != nil { // the request has begun
		t.Fatal(err)
	}
	svctest.Succeeds(d.t, "the request to be in flight", func() error {
		routes, err := d.client().Routes(t.Context())
		for _, r := range routes.Items {
			if r.VersionID == "v2" && r.Inflight > 0 {
				return nil
			}
		}
		return errors.Join(errors.New("it is not"), err)
	})
	archived := make(chan error, 1)
	go func() { _, err := d.client().Archive(t.Context(), "hello", "v2"); archived <- err }()
	svctest.Succeeds(d.t, "v2 to be archived", func() error {
		v, err := d.client().Version(t.Context(), "hello", "v2")
		if err == nil && v.Status != api.VersionStatusArchived {
			err = fmt.Errorf("it is %s", v.Status)
		}
		return err
	})
	child := d.deploy(notes, "--version", "v3", "--parent", "v2")
	if a := d.get(child.PreviewURL); a.Body != "early" {
		t.Errorf("the child has %+v", a)
	}
	if _, err := send.Write([]byte("te")); err != nil {
		t.Error(err)
	}
	send.Close()
	if got := <-answered; got != "200 late <nil>" {
		t.Errorf("the request in flight: %s", got)
	}
	if err := <-archived; err != nil {
		t.Error(err)
	}
	if _, err := d.client().Wake(t.Context(), "hello", "v2"); err != nil {
		t.Error(err)
	}
	if a := d.get(v2.PreviewURL); a.Body != "late" {
		t.Errorf("woken, it has %+v", a)
	}
}

// A database that the worker never queried is forked, archived and woken like any
// other.
// spec: [C2.9] [C2.13]
func TestUntouchedDatabase(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.deploy(hello(t, "production"), "--version", "v1")
	counter := worker(t, `{ "name": "hello", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB" }] }`,
		map[string]string{"index.js": `export default { async fetch(req, env) {
			await env.DB.exec("CREATE TABLE IF NOT EXISTS t(x)")
			await env.DB.exec("INSERT INTO t VALUES (1)")
			return new Response(await env.DB.prepare("SELECT count(*) AS n FROM t").first("n"))
		} }`})
	v2 := d.deploy(counter, "--version", "v2")
	child := d.deploy(counter, "--version", "v3", "--parent", "v2")
	if _, err := d.client().Archive(t.Context(), "hello", "v2"); err != nil {
		t.Error(err)
	}
	late := d.deploy(counter, "--version", "v4", "--parent", "v2")
	if _, err := d.client().Wake(t.Context(), "hello", "v2"); err != nil {
		t.Error(err)
	}
	for _, v := range []api.Version{v2, child, late} {
		if a := d.get(v.PreviewURL); a.Body != "1" {
			t.Errorf("%s: %+v", v.ID, a)
		}
	}
}
