package supervisor_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const hello = `export default { fetch() { return new Response("hello") } }`

// spec: [C1.8] [C2.1]
func TestServe(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(hello, nil)
	e := h.mustServe(spec)
	h.want(e, "/", "hello")
	again, err := h.serve(spec)
	if err != nil || again != e {
		t.Errorf("the second Open and Serve: %+v %v, want %+v", again, err, e)
	}
	other := spec
	other.Env = map[string]string{"A": "b"}
	if err := h.Open(t.Context(), other); !errors.Is(err, svc.Conflict) {
		t.Errorf("Open with another spec: %v", err)
	}
	if r := h.Measured(); len(r) != 1 || r[0].State != svc.RuntimeServing || r[0].Endpoint != e || r[0].RSSBytes < 1<<20 {
		t.Errorf("runtimes: %+v", r)
	}
	info, err := os.Stat(filepath.Dir(e.Socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the sockets' directory: %v %v", info, err)
	}
	for range 2 {
		if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Dir(e.Socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run directory still exists: %v", err)
	}
	if _, err := h.Serve(t.Context(), spec.Ref); svc.CodeOf(err) != "runtime_not_open" {
		t.Errorf("Serve of a stopped version: %v", err)
	}
	awaitExit(t, e.PID, e.WorkerdPID)
	if got := h.states(); got != "starting serving stopped" {
		t.Errorf("states: %s", got)
	}
	if _, err := h.serve(other); err != nil {
		t.Errorf("a stopped version does not start again: %v", err)
	}
}

// TestFileLimit: workerd, which exits at its soft limit of open files, gets the hard
// limit.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) {
		c.HostCommand = append([]string{"/bin/sh", "-c", `ulimit -Sn 128; exec "$0" "$@"`}, c.HostCommand...)
	})
	e := h.mustServe(h.spec(hello, nil))
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", e.WorkerdPID))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max open files") && f[3] != f[4] {
			t.Errorf("workerd has %s", line)
		}
	}
	if r := h.Measured(); r[0].Descriptors < 10 {
		t.Errorf("%d open descriptors", r[0].Descriptors)
	}
}

// spec: [C4.7] [C5.7] [C5.8]
func TestEnvironment(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`export default { fetch(_, env) { return Response.json([
			env.PLAIN, env.OVERRIDDEN, env.LIST, env.PROJECT_ID, env.VERSION_ID, env.ADDED, env.META.tag, Object.keys(env).length,
			typeof process === "undefined" ? "" : Object.keys(process.env).sort().join()]) } }`,
		func(m *bundle.Manifest) {
			list, err := bundle.JSONVar([]byte(`[1,{"a":"é\u0000"}]`))
			if err != nil {
				t.Fatal(err)
			}
			m.Vars = map[string]bundle.Var{"PLAIN": bundle.TextVar("a\"\\\n\x01é"), "OVERRIDDEN": bundle.TextVar("no"), "LIST": list}
			m.Bindings = []bundle.Binding{{Name: "META", Kind: "version_metadata"}}
		})
	spec.Env = map[string]string{"OVERRIDDEN": "yes", "ADDED": "${x}"}
	e := h.mustServe(spec)
	h.want(e, "/", `["a\"\\\n\u0001é","yes",[1,{"a":"é\u0000"}],"shop","v-1","${x}","main",7,`+
		`"ADDED,LIST,META,OVERRIDDEN,PLAIN,PROJECT_ID,VERSION_ID"]`)
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", e.WorkerdPID))
	if want := strings.Join(workerd.Environ(nil), "") + "\x00"; err != nil || string(data) != want {
		t.Errorf("workerd's environment: %q %v, want %q", data, err, want)
	}
}

// spec: [C1.9]
func TestData(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := newSpec(t, h.base, map[string]string{
		"index.js": `export default { async fetch(_, env) {
			await env.KV.put("k", "v"); await env.DB.exec("INSERT INTO t (a) VALUES (1)");
			return Response.json([await env.KV.get("k"), await env.DB.prepare("SELECT count(*) AS n FROM t").first("n")]) } }`,
		"migrations/DB/0001_init.sql": "CREATE TABLE t (a)",
	}, func(m *bundle.Manifest) {
		m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "main"}, {Name: "DB", Kind: "database", Resource: "main"}}
	})
	ctx := t.Context()
	if err := h.Open(ctx, spec); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 0} {
		if p, err := h.Prepare(ctx, spec.Ref); err != nil || len(p.Applied) != want {
			t.Fatalf("Prepare %d: %v %v", i, p, err)
		}
	}
	e, err := h.Serve(ctx, spec.Ref)
	if err != nil {
		t.Fatal(err)
	}
	h.want(e, "/", `["v",1]`)
	kill(t, e.PID) // without a chance to close anything
	h.want(h.await(svc.RuntimeServing, 2), "/", `["v",2]`)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	kv := func(m *bundle.Manifest) { m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "main"}} }
	for name, tc := range map[string]struct {
		code   string
		adjust func(*bundle.Manifest)
		env    map[string]string
		want   string // code
		detail string
		output string
	}{
		"throws":        {code: `console.log("at work"); function f() { throw new Error("boom") } f(); ` + hello, want: "startup_exception", detail: "boom"},
		"final output":  {code: `console.log("at work"); throw new Error("boom")`, want: "startup_exception", output: "log: at work"},
		"syntax":        {code: `export default {`, want: "syntax_error"},
		"no module":     {code: `import "./nowhere.js"; ` + hello, want: "module_missing", detail: "nowhere.js"},
		"no handler":    {code: `export const x = 1`, want: "startup_exception"},
		"never listens": {code: `for (;;) {}`, want: "startup_timeout"},
		"loops":         {code: `for (;;) {}`, want: "startup_cpu_limit", detail: "used 1s of CPU time"},
		"unsettled":     {code: `await new Promise(() => {}); ` + hello, want: "startup_exception", detail: "unsettled"},
		"future date":   {code: hello, adjust: func(m *bundle.Manifest) { m.CompatibilityDate = "2099-01-01" }, want: "compat_date_future"},
		"experimental":  {code: hello, adjust: func(m *bundle.Manifest) { m.CompatibilityFlags = []string{"experimental"} }, want: "compat_flag_experimental"},
		"shadow":        {code: hello, adjust: kv, env: map[string]string{"KV": "x"}, want: "env_shadows_binding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, func(c *options) {
				if tc.want == "startup_cpu_limit" {
					c.Host.StartCPU = time.Second
				}
				if tc.want == "startup_timeout" {
					c.Host.StartTimeout = time.Second
				}
			})
			spec := h.spec(tc.code, tc.adjust)
			spec.Env = tc.env
			_, err := h.serve(spec)
			var e *svc.Error
			if !errors.As(err, &e) || e.Code != tc.want || !errors.Is(err, svc.Unprocessable) || !strings.Contains(e.Detail, tc.detail) || !strings.Contains(e.Output, tc.output) {
				t.Fatalf("%#v, want code %s, %q in the detail and the output %q", err, tc.want, tc.detail, tc.output)
			}
			if r := h.Runtimes(); len(r) != 1 || r[0].State != svc.RuntimeCrashed || !strings.HasPrefix(r[0].LastError, tc.want) {
				t.Errorf("runtimes: %+v", r)
			}
			if err := h.Open(t.Context(), h.spec(hello, nil)); err != nil { // a crashed runtime can be opened again
				t.Error(err)
			}
		})
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`export default { async fetch(req) {
		switch (new URL(req.url).pathname) {
		case "/throw": throw new TypeError("no such thing");
		case "/reject": Promise.reject(new Error("unhandled")); return new Response("ok");
		case "/flood": for (let i = 0; i < 400; i++) console.log("x".repeat(20000)); return new Response("ok");
		}
		console.log("one", { two: 2 }); console.error("three\nfour"); return new Response("ok") } }`, nil)
	e := h.mustServe(spec)
	h.want(e, "/", "ok")
	if status, _, err := get(t.Context(), e.Socket, "/throw"); err != nil || status != 500 {
		t.Errorf("throw: %d %v", status, err)
	}
	h.want(e, "/reject", "ok")
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil { // after it, all output has been read
		t.Fatal(err)
	}
	lines := logTail(t, spec, 100)
	var got strings.Builder
	for _, l := range lines {
		first, _, _ := strings.Cut(l.Message, "\n    at ")
		fmt.Fprintf(&got, "%s %s %s %s|", strings.TrimLeft(l.RequestID, "0"), l.Source, l.Level, first)
		if d := time.Since(l.Time); d < 0 || d > svctest.Patience {
			t.Errorf("time %s of %q", l.Time, l.Message)
		}
	}
	const want = "1 console log one { two: 2 }|1 console error three\nfour|6 exception error TypeError: no such thing|" +
		"7 console error Unhandled rejection: Error: unhandled|" // the ids are the lengths of the paths
	if got.String() != want {
		t.Errorf("log\n%s\nwant\n%s", got.String(), want)
	}

	h.want(h.mustServe(spec), "/flood", "ok") // 8 MB through a pipe of 64 KiB
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(spec.Local.LogDir, svc.LogsOfWorker+"-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("log files: %v %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > 2*svc.LogSegmentSize || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
	lines = logTail(t, spec, 100)
	for _, l := range lines {
		if !strings.HasSuffix(l.Message, "x … (3616 more bytes)") && !strings.Contains(l.Message, "lines dropped: ") {
			t.Errorf("%q", l.Message)
		}
	}
	if len(lines) != 100 {
		t.Errorf("the tail has %d lines", len(lines))
	}
}

// spec: [C1.12]
func TestNetwork(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	e := h.mustServe(h.spec(`import { connect } from "cloudflare:sockets";
		export default { async fetch(req) {
			const port = new URL(req.url).searchParams.get("port");
			const tries = ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "10.0.0.1", "169.254.169.254"].map(async (host) => {
				try { await fetch("http://" + host + ":" + port + "/"); return host } catch { return "" } });
			tries.push((async () => { try { await connect("127.0.0.1:" + port).opened; return "connect" } catch { return "" } })());
			return Response.json((await Promise.all(tries)).filter(Boolean)) } }`, nil))
	h.want(e, fmt.Sprintf("/?port=%d", e.Port), "[]") // its own port, which listens
}

func TestStopInterrupts(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`for (;;) {}`, nil)
	if err := h.Open(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { _, err := h.Serve(t.Context(), spec.Ref); served <- err }()
	svctest.Eventually(t, "workerd to run", func() bool { return len(h.workerds()) > 0 })
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err == nil {
		t.Error("Serve succeeded")
	}
	svctest.Eventually(t, "workerd to end", func() bool { return len(h.workerds()) == 0 })
}

func TestStopLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(`export default { async fetch() {
		console.log("in"); await scheduler.wait(500); return new Response("finished") } }`, nil)
	e := h.mustServe(spec)
	answer := make(chan string, 1)
	go func() {
		_, body, err := get(t.Context(), e.Socket, "/")
		answer <- fmt.Sprint(body, err)
	}()
	svctest.Eventually(t, "the worker to have the request", func() bool {
		return len(logTail(t, spec, 1)) == 1
	})
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
	if got := <-answer; got != "finished<nil>" {
		t.Errorf("the request in flight got %s", got)
	}
}
