package supervisor_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// groups makes directories with the files of control groups, which the kernel does not read.
type groups struct {
	dir     string
	events  string // memory.events of new ones
	fail    atomic.Bool
	cleared atomic.Bool
}

func (g *groups) New(id string) (*cgroup.Group, error) {
	if g.fail.Load() {
		return nil, errors.New("no more groups")
	}
	dir := filepath.Join(g.dir, id)
	err := os.Mkdir(dir, 0o700)
	for _, name := range []string{"cgroup.procs", "cgroup.kill", "memory.max"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	return cgroup.At(dir), errors.Join(err, os.WriteFile(filepath.Join(dir, "memory.events"), []byte(g.events), 0o600))
}

func (g *groups) Clear() error { g.cleared.Store(true); return nil }

// of returns the directory of the group with a process.
func (g *groups) of(t *testing.T, pid int) string {
	t.Helper()
	list, _ := filepath.Glob(filepath.Join(g.dir, "*"))
	for _, dir := range list {
		if text(t, dir, "cgroup.procs") == strconv.Itoa(pid) {
			return dir
		}
	}
	t.Fatalf("no group has the process %d: %v", pid, list)
	return ""
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// grouped is a supervisor whose hosts have groups, with the reasons that it reports.
type grouped struct {
	*harness

	groups   *groups
	unlogged chan string
}

func startGrouped(t *testing.T, adjust func(*options)) *grouped {
	t.Helper()
	g := &grouped{groups: &groups{dir: t.TempDir()}, unlogged: make(chan string, 10)}
	g.harness = start(t, func(c *options) {
		c.Groups, c.Host.MemoryMB = g.groups, 256
		c.Unlogged = func(_ svc.Ref, reason string) { g.unlogged <- reason }
		if adjust != nil {
			adjust(c)
		}
	})
	return g
}

// TestGroups: each host has a group with the limit of its version, and the group ends with it.
func TestGroups(t *testing.T) {
	t.Parallel()
	h := startGrouped(t, nil)
	if !h.groups.cleared.Load() {
		t.Error("groups of an earlier daemon remain")
	}
	spec := h.spec(hello, nil)
	dir := h.groups.of(t, h.mustServe(spec).PID)
	if got := text(t, dir, "memory.max"); got != strconv.Itoa(320<<20) {
		t.Errorf("limit %s", got)
	}
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
	if text(t, dir, "cgroup.kill") != "1" {
		t.Error("the group of a stopped version remains")
	}

	spec = h.spec(hello, func(m *bundle.Manifest) { m.Limits = &bundle.RuntimeLimits{MemoryMB: 64} })
	spec.Ref.Version = "v-2"
	if got := text(t, h.groups.of(t, h.mustServe(spec).PID), "memory.max"); got != strconv.Itoa(128<<20) {
		t.Errorf("limit of a project: %s", got)
	}
}

// TestGroupOfSpare: a spare has a group, which gets the limit of the version that claims it.
func TestGroupOfSpare(t *testing.T) {
	t.Parallel()
	h := startGrouped(t, func(c *options) { c.Spares, c.SparesSoon = 1, true })
	h.mustServe(h.spec(hello, nil))
	svctest.Eventually(t, "a spare", func() bool { return h.Spares() == 1 })
	host := h.driver.SparePIDs()[0]
	dir := h.groups.of(t, host)
	if got := text(t, dir, "memory.max"); got != "" {
		t.Errorf("limit of a spare: %s", got)
	}
	spec := h.spec(hello, func(m *bundle.Manifest) { m.Limits = &bundle.RuntimeLimits{MemoryMB: 100} })
	spec.Ref.Version = "v-2"
	if e := h.mustServe(spec); e.PID != host || text(t, dir, "memory.max") != strconv.Itoa(164<<20) {
		t.Errorf("host %d instead of %d, limit %s", e.PID, host, text(t, dir, "memory.max"))
	}
}

// TestGroupOutOfMemory: a process that the kernel ended for the limit of the group is the
// reason in the state and in the log, workerd or its host.
func TestGroupOutOfMemory(t *testing.T) {
	t.Parallel()
	h := startGrouped(t, nil)
	spec := h.spec(hello, nil)
	const reason = "out_of_memory: the kernel ended the worker: with its host it reached 320 MiB of memory, the limit of their control group"
	e := h.mustServe(spec)
	for i, host := range []bool{false, true} {
		if err := os.WriteFile(filepath.Join(h.groups.of(t, e.PID), "memory.events"), []byte("max 3\noom 1\noom_kill 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		pid := e.WorkerdPID
		if host {
			pid = e.PID
		}
		kill(t, pid)
		e = h.await(svc.RuntimeServing, i+2)
		if r := h.Runtimes()[0]; r.LastError != reason {
			t.Errorf("host %t: %+v", host, r)
		}
		if host {
			if got := svctest.Wait(t, "the reason", h.unlogged); got != reason {
				t.Errorf("for the log: %s", got)
			}
		} else if lines := logTail(t, spec, 10); len(lines) != 1 || lines[0].Message != reason {
			t.Errorf("the log: %+v", lines)
		}
	}
	if len(h.unlogged) > 0 {
		t.Errorf("logged twice: %s", <-h.unlogged)
	}
}

// TestGroupOutOfMemoryUnresponsive: a worker that the daemon ends because it answers no pings,
// and the kernel at the same time for its memory, was out of memory.
func TestGroupOutOfMemoryUnresponsive(t *testing.T) {
	t.Parallel()
	h := startGrouped(t, func(c *options) { c.PingEvery, c.PingTimeout = 20*time.Millisecond, 2*time.Second })
	h.groups.events = "oom 1\noom_kill 1\n"
	e := h.mustServe(h.spec(`export default { fetch() { for (;;); } }`, nil))
	if _, _, err := get(t.Context(), e.Socket, "/"); err == nil {
		t.Error("the loop ended")
	}
	svctest.Eventually(t, "the reason", func() bool { return h.Runtimes()[0].LastError != "" })
	if r := h.Runtimes()[0]; !strings.HasPrefix(r.LastError, "out_of_memory: the kernel ended the worker") {
		t.Errorf("runtime: %+v", r)
	}
}

// TestNoGroup: a version runs although no group can be made.
func TestNoGroup(t *testing.T) {
	t.Parallel()
	h := startGrouped(t, nil)
	h.groups.fail.Store(true)
	h.want(h.mustServe(h.spec(hello, nil)), "/", "hello")
}

// TestUnlogged: the end of a host that was killed is reported for the log of the version.
func TestUnlogged(t *testing.T) {
	t.Parallel()
	h := startGrouped(t, nil)
	kill(t, h.mustServe(h.spec(hello, nil)).PID)
	h.await(svc.RuntimeServing, 2)
	if got := svctest.Wait(t, "the reason", h.unlogged); !strings.HasPrefix(got, "host_exited: the worker host ended: signal: killed") {
		t.Error(got)
	}
}
