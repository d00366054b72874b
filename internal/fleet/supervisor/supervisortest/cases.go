package supervisortest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const hello = `console.log("starts"); export default { fetch: () => new Response("hello") }`

// counter writes to KV, and spins when it is asked to.
const counter = `export default {
	async fetch(req, env) {
		const path = new URL(req.url).pathname
		if (path === "/spin") for (;;) {}
		if (path === "/echo") return new Response(req.body)
		if (req.method === "POST") await env.KV.put(path, await req.text())
		return new Response(await env.KV.get(path))
	},
	async scheduled(event, env) { await env.KV.put("/scheduled", event.cron) },
}`

func serve(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", hello)
	e := w.open(t, spec)
	Want(t, e, "/", "hello")
	if again, err := w.Serve(t.Context(), spec.Ref); err != nil || again != e {
		t.Errorf("a second Serve: %+v %v, want %+v", again, err, e)
	}
	if err := w.Open(t.Context(), spec); err != nil {
		t.Errorf("a second Open: %v", err)
	}
	direct(t, e, "hello")
}

func data(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	post(t, e, "/a", "one")
	got, err := ask(t, w, spec.Ref, "/kv/KV/values/%2Fa")
	if err != nil || got != "one" {
		t.Errorf("Data: %q %v", got, err)
	}
	if _, err := ask(t, w, spec.Ref, "/kv/NO/keys"); svc.CodeOf(err) != svc.CodeBindingNotFound {
		t.Errorf("Data of another binding: %v", err)
	}
}

func log(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", hello)
	w.open(t, spec)
	r := ring.NewReader(spec.Local.LogDir, svc.LogsOfWorker, 0)
	defer r.Close()
	svctest.Eventually(t, "the log", func() bool {
		_, line, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		l, parsed := svc.ParseLog(line)
		return ok && parsed && l.Message == "starts"
	})
}

func bodies(t *testing.T, w *world) {
	e := w.open(t, w.spec(t, "v-1", counter))
	body := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB
	if got := post(t, e, "/echo", body); got != body {
		t.Errorf("%d bytes came back, want %d", len(got), len(body))
	}
}

func concurrent(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			path, text := fmt.Sprintf("/%d", i), fmt.Sprint("value ", i)
			if got := post(t, e, path, text); got != text {
				t.Errorf("%s: %q", path, got)
			}
			if i%8 == 0 {
				if _, err := w.Cut(t.Context(), spec.Ref); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func cut(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	post(t, w.open(t, spec), "/a", "one")
	c, err := w.Cut(t.Context(), spec.Ref)
	if err != nil || len(c.Databases) == 0 {
		t.Errorf("%+v %v", c, err)
	}
}

func stopAndOpen(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	post(t, e, "/a", "one")
	if err := w.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t.Context(), e, "/a"); err == nil {
		t.Error("a version that was stopped answers")
	}
	Want(t, w.open(t, spec), "/a", "one")
}

func archive(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	post(t, w.open(t, spec), "/a", "one")
	if err := w.Archive(t.Context(), spec, func() error { return nil }); svc.CodeOf(err) != svc.CodeRuntimeOpen {
		t.Errorf("of a version that runs: %v", err)
	}
	if err := w.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	archived := false
	err := w.Archive(t.Context(), spec, func() error { archived = true; return os.RemoveAll(spec.Local.DataDir) })
	if err != nil || !archived || exists(spec.Local.DataDir) {
		t.Fatalf("%v; archived %t", err, archived)
	}
	Want(t, w.open(t, spec), "/a", "one")
}

func sleep(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	post(t, w.open(t, spec), "/a", "one")
	if _, err := w.Sleep(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	Want(t, w.open(t, spec), "/a", "one")
}

func crash(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	post(t, e, "/a", "one")
	if err := syscall.Kill(e.WorkerdPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	Want(t, w.restarted(t, spec.Ref, e), "/a", "one")
	w.reason(t, svc.CodeWorkerdExited)
}

func hostKilled(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	post(t, e, "/a", "one")
	if err := syscall.Kill(e.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	Want(t, w.restarted(t, spec.Ref, e), "/a", "one")
	w.reason(t, svc.CodeHostExited)
}

func hang(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, _, err := get(t.Context(), e, "/spin"); err == nil {
			t.Error("a loop has answered")
		}
	}()
	Want(t, w.restarted(t, spec.Ref, e), "/", "")
	svctest.Wait(t, "the request", ended)
	w.reason(t, svc.CodeUnresponsive)
}

func broken(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", `throw new Error("boom")`)
	err := w.Open(t.Context(), spec)
	if err == nil {
		_, err = w.Serve(t.Context(), spec.Ref)
	}
	if e := svc.AsError(err); e.Code != svc.CodeStartupException || !errors.Is(err, svc.Unprocessable) {
		t.Errorf("%v", err)
	}
	Want(t, w.open(t, w.spec(t, "v-2", hello)), "/", "hello")
}

func events(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	r, err := w.Dispatch(t.Context(), spec.Ref, svc.Event{Scheduled: &svc.Scheduled{Cron: "* * * * *", Time: time.Now()}})
	if err != nil || r.Outcome != svc.OutcomeOK {
		t.Fatalf("%+v %v", r, err)
	}
	Want(t, e, "/scheduled", "* * * * *")
	if err := w.Arm(t.Context(), spec.Ref, svc.Arming{Crons: true, Events: true}); err != nil {
		t.Error(err)
	}
	if _, err := w.NextWake(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
}

func measured(t *testing.T, w *world) {
	w.open(t, w.spec(t, "v-1", hello))
	svctest.Eventually(t, "the measures", func() bool {
		list := w.Measured()
		return len(list) == 1 && list[0].RSSBytes > 10<<20 && list[0].Descriptors > 10 && list[0].CPU > 0
	})
}

func restart(t *testing.T, w *world) {
	spec := w.spec(t, "v-1", counter)
	e := w.open(t, spec)
	for i := range 3 {
		post(t, e, fmt.Sprintf("/%d", i), "x")
		w.place.Kill(t, e)
		e = w.restarted(t, spec.Ref, e)
	}
	for i := range 3 {
		Want(t, e, fmt.Sprintf("/%d", i), "x")
	}
	if r, _ := w.Runtime(spec.Ref); r.Restarts != 3 {
		t.Errorf("%d restarts, want 3", r.Restarts)
	}
}
