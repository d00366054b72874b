package supervisor_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func awaitExit(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		svctest.Eventually(t, "process "+strconv.Itoa(pid)+" to end", func() bool { return !alive(pid) })
	}
}

// workerds returns the workerd processes of h.
func (h *harness) workerds() []int {
	h.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		h.t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !alive(pid) {
			continue
		}
		exe, _ := os.Readlink(filepath.Join("/proc", e.Name(), "exe"))
		dir, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if filepath.Base(exe) == "workerd" && strings.HasPrefix(dir, h.run+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestKilledWorkerd(t *testing.T) {
	t.Parallel()
	reasons := make(chan string, 1)
	h := start(t, func(c *options) { c.OnRestart = func(_ svc.Ref, why string) { reasons <- why } })
	first := h.mustServe(h.spec(hello, nil))
	kill(t, first.WorkerdPID)
	second := h.await(svc.RuntimeServing, 2)
	h.want(second, "/", "hello")
	awaitExit(t, first.PID, first.WorkerdPID)
	if why := <-reasons; why != "workerd_exited" {
		t.Errorf("the reason is %s", why)
	}
	if got := h.states(); got != "starting serving backoff starting serving" {
		t.Errorf("states: %s", got)
	}
	if r := h.Runtimes()[0]; r.Restarts != 1 || r.LastError != "workerd_exited: workerd ended: signal: killed" {
		t.Errorf("runtime: %+v", r)
	}
}

func TestKilledHost(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	first := h.mustServe(h.spec(hello, nil))
	kill(t, first.PID)
	awaitExit(t, first.PID, first.WorkerdPID)
	h.want(h.await(svc.RuntimeServing, 2), "/", "hello")
}

func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	run := svctest.ShortDir(t)
	base := t.TempDir()
	spec := newSpec(t, base, map[string]string{"index.js": hello}, nil)
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "spec.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := svctest.Start(t, "daemon", workerdtest.Binary(t), run, file)
	if !daemon.AwaitLines(t, 1) {
		t.Fatal(daemon.Stderr())
	}
	var report daemonReport
	if err := json.Unmarshal([]byte(daemon.Lines()[0]), &report); err != nil {
		t.Fatal(err)
	}
	e, spare := report.Endpoint, report.Spares[0]
	spareWorkerd := child(t, spare)
	if status, body, err := get(t.Context(), e.Socket, "/"); err != nil || status != 200 || body != "hello" {
		t.Fatalf("%d %q %v", status, body, err)
	}
	daemon.Kill()

	// The next daemon starts immediately: the version serves, and no files are left.
	h := start(t, func(c *options) { c.RunDir = run })
	if _, err := os.Stat(filepath.Dir(e.Socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old run directory still exists: %v", err)
	}
	h.want(h.mustServe(spec), "/", "hello")
	awaitExit(t, e.PID, e.WorkerdPID, spare, spareWorkerd)
}

func TestUnresponsive(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) {
		c.PingEvery, c.PingTimeout = 20*time.Millisecond, 4*time.Second
	})
	spec := h.spec(`export default { fetch(req) { if (req.url.endsWith("spin")) for (;;) {} return new Response("hello") } }`, nil)
	first := h.mustServe(spec)
	h.want(first, "/", "hello")
	if _, _, err := get(t.Context(), first.Socket, "/spin"); err == nil {
		t.Error("the loop ended")
	}
	h.serves(spec.Ref, "hello")
	awaitExit(t, first.PID, first.WorkerdPID)
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "unresponsive: ") {
		t.Errorf("runtime: %+v", r)
	}
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Host.HeapMB = 32 })
	first := h.mustServe(h.spec(`export default { fetch(req) {
		if (req.url.endsWith("eat")) for (const a = [];;) a.push(new Array(1000).fill(0).map((_, i) => ({ i })));
		return new Response("hello") } }`, nil))
	if _, _, err := get(t.Context(), first.Socket, "/eat"); err == nil {
		t.Error("it has enough memory")
	}
	h.want(h.await(svc.RuntimeServing, 2), "/", "hello")
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "out_of_memory: ") {
		t.Errorf("runtime: %+v", r)
	}
}

func TestStuckHost(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.Grace = time.Millisecond })
	spec := h.spec(hello, nil)
	e := h.mustServe(spec)
	if err := syscall.Kill(e.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
	awaitExit(t, e.PID, e.WorkerdPID)
}
