package workerhost_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// bellScript answers with the number of alarms that have begun. /set sets one that is due immediately,
// /slow one that runs until /end; / waits a moment first.
const bellScript = `import { DurableObject, exports } from "cloudflare:workers";
let ended = true;
export class Bell extends DurableObject {
	async fetch(request) {
		const { pathname } = new URL(request.url);
		if (pathname === "/slow") ended = false;
		if (pathname === "/end") ended = true;
		if (pathname === "/set" || pathname === "/slow") await this.ctx.storage.setAlarm(Date.now());
		else await scheduler.wait(200);
		return new Response(String(await this.ctx.storage.get("rung") ?? 0));
	}
	async alarm() {
		await this.ctx.storage.put("rung", (await this.ctx.storage.get("rung") ?? 0) + 1);
		while (!ended) await scheduler.wait(5);
	}
}
export default { fetch: (request) => exports.Bell.getByName("a").fetch(request) };`

// objects are Durable Objects in a directory that workerd alone uses.
type objects struct{ dir string }

func (o objects) Dir() string                                             { return o.dir }
func (objects) Own(int) error                                             { return nil }
func (objects) Opening(context.Context, string) error                     { return nil }
func (objects) MakeAll(context.Context) error                             { return nil }
func (objects) Follow(context.Context, func() (resume func(), err error)) {}

// withObjects are resources with Durable Objects.
type withObjects struct {
	resources
	objects objects
}

func (r withObjects) Objects() workerhost.Objects { return r.objects }

// bells is a worker host with bellScript.
type bells struct {
	*workerhost.Host
	spec svc.RuntimeSpec
	at   svc.Endpoint
}

func newBells(t *testing.T) *bells {
	t.Helper()
	dir := t.TempDir()
	h := workerhost.New(workerhost.Options{
		Logger: slog.New(slog.DiscardHandler), Exited: func(control.Exit) {},
		Open: func(ctx context.Context, _ svc.RuntimeSpec, m *bundle.Manifest, _ func(error)) (workerhost.Resources, error) {
			set, err := binding.OpenAll(ctx, nil, m, nil)
			return withObjects{resources{set}, objects{dir}}, err
		},
	})
	return &bells{Host: h, spec: objectsVersion(t, bellScript)}
}

// objectsVersion is versionOf for a script with the class Bell.
func objectsVersion(t *testing.T, script string) svc.RuntimeSpec {
	t.Helper()
	spec := versionOf(t, script)
	m, err := bundle.Load(spec.Local.BundleDir)
	if err != nil {
		t.Fatal(err)
	}
	m.CompatibilityDate = "2026-11-01"
	m.ObjectClasses = []bundle.ObjectClass{{Name: "Bell", Key: "Bell", SQL: true}}
	data, err := m.Encode()
	if err == nil {
		err = os.WriteFile(filepath.Join(spec.Local.BundleDir, "manifest.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func (b *bells) serve(t *testing.T) {
	t.Helper()
	var err error
	if b.at, err = b.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = b.Stop(context.WithoutCancel(t.Context()), control.Stop{}) })
}

// ask returns the answer of the worker.
func (b *bells) ask(t *testing.T, path string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", b.at.Socket)
	}}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://worker.test"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rung waits until n alarms have begun.
func (b *bells) rung(t *testing.T, n string) {
	t.Helper()
	svctest.Eventually(t, "alarms that have begun: "+n, func() bool { return b.ask(t, "/") == n })
}

// do fails the test if a verb fails.
func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
