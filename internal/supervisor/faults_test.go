package supervisor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/workerd/workerdtest"
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

func awaitDeath(t testing.TB, pids ...int) {
	t.Helper()
	limit := time.Now().Add(20 * time.Second)
	for _, pid := range pids {
		for alive(pid) {
			if time.Now().After(limit) {
				t.Fatalf("process %d is still there", pid)
			}
			pause(t)
		}
	}
}

// pause is for what has no event to wait on: processes of others.
func pause(t testing.TB) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal("the test is over")
	case <-time.After(5 * time.Millisecond):
	}
}

// workerds are the workerd processes of h.
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
	h := start(t, func(c *supervisor.Config) { c.OnRestart = func(_ svc.Ref, why string) { reasons <- why } })
	first := h.mustServe(h.spec(hello, nil))
	kill(t, first.WorkerdPID)
	second := h.await(supervisor.StateServing, 2)
	h.want(second, "/", "hello")
	awaitDeath(t, first.PID, first.WorkerdPID)
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
	awaitDeath(t, first.PID, first.WorkerdPID)
	h.want(h.await(supervisor.StateServing, 2), "/", "hello")
}

func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	run := runDir(t)
	base := t.TempDir()
	spec := newSpec(t, base, map[string]string{"index.js": hello}, nil)
	data, err := json.Marshal(spec) //nolint:musttag // read by this binary
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "spec.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(os.Args[0], "daemon", workerdtest.Binary(t), run, file)
	daemon.Stderr = os.Stderr
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	var e supervisor.Endpoint
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&e); err != nil { //nolint:musttag // written by this binary
		t.Fatal(err)
	}
	if status, body, err := get(t.Context(), e.Socket, "/"); err != nil || status != 200 || body != "hello" {
		t.Fatalf("%d %q %v", status, body, err)
	}
	kill(t, daemon.Process.Pid)
	_ = daemon.Wait()

	// The next daemon, at once: the version serves, and nothing is left over.
	h := start(t, func(c *supervisor.Config) { c.RunDir = run })
	if _, err := os.Stat(filepath.Dir(e.Socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old run directory is still there: %v", err)
	}
	h.want(h.mustServe(spec), "/", "hello")
	awaitDeath(t, e.PID, e.WorkerdPID)
}

func TestUnresponsive(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *supervisor.Config) {
		c.PingEvery, c.PingTimeout = 20*time.Millisecond, 2*time.Second
	})
	first := h.mustServe(h.spec(`export default { fetch(req) { if (req.url.endsWith("spin")) for (;;) {} return new Response("hello") } }`, nil))
	h.want(first, "/", "hello")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, _, err := get(ctx, first.Socket, "/spin"); err == nil || ctx.Err() != nil {
		t.Errorf("spin: %v", err)
	}
	h.want(h.await(supervisor.StateServing, 2), "/", "hello")
	awaitDeath(t, first.PID, first.WorkerdPID)
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "unresponsive: ") {
		t.Errorf("runtime: %+v", r)
	}
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *supervisor.Config) { c.HeapMB = 32 })
	first := h.mustServe(h.spec(`export default { fetch(req) {
		if (req.url.endsWith("eat")) for (const a = [];;) a.push(new Array(1000).fill(0).map((_, i) => ({ i })));
		return new Response("hello") } }`, nil))
	if _, _, err := get(t.Context(), first.Socket, "/eat"); err == nil {
		t.Error("it has enough memory")
	}
	h.want(h.await(supervisor.StateServing, 2), "/", "hello")
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "out_of_memory: ") {
		t.Errorf("runtime: %+v", r)
	}
}

func TestCrashLoop(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *supervisor.Config) { c.Policy.Limit = 4 })
	spec := h.spec(hello, nil)
	first := h.mustServe(spec)
	module := filepath.Join(spec.BundleDir, "modules", "index.js")
	if err := os.WriteFile(module, []byte(`throw new Error("boom")`), 0o600); err != nil {
		t.Fatal(err)
	}
	kill(t, first.WorkerdPID)
	h.await(supervisor.StateCrashed, 1)
	r := h.Runtimes()[0]
	if r.Restarts != 3 || !strings.HasPrefix(r.LastError, "startup_exception: ") || r.Endpoint != (supervisor.Endpoint{}) {
		t.Errorf("runtime: %+v", r)
	}
	if _, err := h.Serve(t.Context(), spec.Ref); svc.CodeOf(err) != "runtime_not_open" {
		t.Errorf("Serve: %v", err)
	}
	if err := os.WriteFile(module, []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	h.want(h.mustServe(spec), "/", "hello")
}

func TestStuckHost(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *supervisor.Config) { c.Grace = time.Millisecond })
	spec := h.spec(hello, nil)
	e := h.mustServe(spec)
	if err := syscall.Kill(e.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
	awaitDeath(t, e.PID, e.WorkerdPID)
}
