//go:build e2e

package e2e

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const callee = `import { WorkerEntrypoint } from "cloudflare:workers";
let open = false;
export default class extends WorkerEntrypoint {
  get color() { return "NAME"; }
  name() { return "NAME"; }
  fail() { throw new TypeError("no good"); }
  props() { return JSON.stringify(this.ctx.props); }
  stream() { return new Blob(["x".repeat(200000)]).stream(); }
  log() { console.log("logged by NAME"); }
  async slow() {
    console.log("slow begins");
    while (!open) await scheduler.wait(20);
    return "NAME";
  }
  async loop(n) { return this.env.CALLER.loop(n + 1); }
  fetch(request) {
    if (request.url.endsWith("/open")) open = true;
    return new Response(request.headers.get("host") + new URL(request.url).pathname);
  }
}`

const caller = `import { WorkerEntrypoint } from "cloudflare:workers";
export default class extends WorkerEntrypoint {
  async loop(n) { return this.env.B.loop(n + 1); }
  async fetch(request) {
    const { B, V1 } = this.env;
    const calls = {
      name: () => B.name(),
      old: () => V1.name(),
      color: async () => await B.color,
      fail: () => B.fail(),
      props: () => B.props(),
      log: () => B.log(),
      nothing: () => B.nothing(),
      loop: () => B.loop(0),
      slow: () => B.slow(),
      bench: async () => { for (let i = 0; i < 2000; i++) await B.name(); },
      stream: async () => { let n = 0; for await (const c of await B.stream()) n += c.length; return n; },
      fetch: async () => (await B.fetch("http://inner.test/path")).text(),
    };
    try { return new Response(String(await calls[new URL(request.url).pathname.slice(1)]())); }
    catch (e) { return new Response(e.name + ": " + e.message); }
  }
}`

// TestServices: a worker calls a worker of another project, and follows its promotes.
func TestServices(t *testing.T) {
	t.Parallel()
	d := started(t)
	b := func(name string) string {
		return worker(t, `{ "name": "b", "main": "index.js", "compatibility_date": "2026-11-01", "services": [{ "binding": "CALLER", "service": "a" }] }`,
			map[string]string{"index.js": strings.ReplaceAll(callee, "NAME", name)})
	}
	if _, stderr, code := d.run(b("b0"), "deploy", "--wait", "--version", "v0"); code == 0 || !strings.Contains(stderr, "service_not_found") {
		t.Errorf("a worker that calls nothing: %d, %s", code, stderr)
	}
	dir := worker(t, `{ "name": "a", "main": "index.js", "compatibility_date": "2026-11-01", "services": [
		{ "binding": "B", "service": "b", "props": { "who": "a" } }, { "binding": "V1", "service": "b", "environment": "v1" } ] }`,
		map[string]string{"index.js": caller})
	v1 := d.deploy(b("b1"), "--version", "v1", "--allow-missing", "services")
	a := d.deploy(dir, "--version", "v1")
	is := func(path, want string) {
		t.Helper()
		if got := d.get(a.PreviewURL + path); got.Body != want {
			t.Errorf("%s: %q, want %q", path, got.Body, want)
		}
	}
	for path, want := range map[string]string{
		"/name": "b1", "/old": "b1", "/color": "b1", "/fail": "TypeError: no good", "/props": `{"who":"a"}`, "/stream": "200000",
		"/fetch": "inner.test/path", "/nothing": `TypeError: The RPC receiver does not implement the method "nothing".`,
		"/loop": "Error: Service bindings called each other 32 times in a row: the limit is 32.",
	} {
		is(path, want)
	}
	d.traced(a, v1)

	v2 := d.deploy(b("b2"), "--version", "v2")
	slow := make(chan answer)
	go func() { slow <- d.get(a.PreviewURL + "/slow") }()
	d.printed(v1, client.LogQuery{Search: "slow begins"})
	if _, stderr, code := d.run(d.home, "promote", "b/v2", "--leave-writes"); code != 0 {
		t.Fatal(stderr)
	}
	is("/name", "b2")
	is("/old", "b1")
	d.get(v1.PreviewURL + "/open")
	if got := <-slow; got.Body != "b1" {
		t.Errorf("the call that was under way: %q", got.Body)
	}
	d.killRuntime(v2)
	d.serves(a.PreviewURL+"/name", "b2") // a call that is with the process when it dies is lost
	if _, stderr, code := d.run(d.home, "versions", "archive", "b/v1"); code != 0 {
		t.Fatal(stderr)
	}
	is("/old", "Error: service b/v1: version_archived: version v1 of b is archived")
	d.together()
}

// together deploys two workers with one command, the one that is called first.
func (d *daemon) together() {
	d.t.Helper()
	d.ok("../../../examples/services", "deploy", "-c", "front/wrangler.jsonc", "-c", "users/wrangler.jsonc", "--version", "v1", "--wait")
	front, err := d.client().Version(d.t.Context(), "front", "v1")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, test := range []struct{ path, want string }{
		{"/ada", "Hello ada, visit 1\n"}, {"/ada", "Hello ada, visit 2\n"}, {"/list", `{"count":1,"names":["ada"]}`}, {"/files/a", "users: /files/a\n"},
	} {
		if got := d.get(front.PreviewURL + test.path); got.Body != test.want {
			d.t.Errorf("%s: %q, want %q", test.path, got.Body, test.want)
		}
	}
}

// printed waits for a line in the log of a version, and returns it.
func (d *daemon) printed(v api.Version, q client.LogQuery) (line api.LogLine) {
	d.t.Helper()
	svctest.Succeeds(d.t, "a line of "+v.ProjectID, func() error {
		page, err := d.client().ReadLogs(d.t.Context(), v.ProjectID, v.ID, q)
		if err == nil && len(page.Items) == 0 {
			err = errors.New("it is absent")
		}
		if err == nil {
			line = page.Items[0]
		}
		return err
	})
	return line
}

// traced checks that what the callee prints has the request id of the caller.
func (d *daemon) traced(from, to api.Version) {
	d.t.Helper()
	d.get(from.PreviewURL + "/log")
	request := d.printed(from, client.LogQuery{Path: "/log"})
	if got := d.printed(to, client.LogQuery{Search: "logged by b1"}); got.RequestID == "" || got.RequestID != request.RequestID {
		d.t.Errorf("the line %+v is not of the request %+v", got, request)
	}
}
