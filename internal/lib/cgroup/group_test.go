package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

func mustNew(t *testing.T, f *fake) *Group {
	t.Helper()
	g, err := mustOpen(t, f).New("0123abcd")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestLimit: the limit is set where the controller is, and taken back.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFake()
	g := mustNew(t, f)
	files := f.groups[g.Path()].text
	for bytes, want := range map[int64]string{64 << 20: "67108864", 0: "max"} {
		if err := g.Limit(bytes); err != nil {
			t.Error(err)
		}
		same(t, "memory.max", files["memory.max"], want)
		same(t, "memory.swap.max", files["memory.swap.max"], want)
	}
	delete(files, "memory.max")
	delete(files, "memory.swap.max")
	if err := g.Limit(1); err != nil {
		t.Errorf("without the controller: %v", err)
	}
	f.readOnly = g.Path()
	if err := g.Limit(1); err == nil {
		t.Error("a limit that cannot be set is no error")
	}
}

// TestReclaim: the kernel is asked for all of the memory, in the words that it knows.
func TestReclaim(t *testing.T) {
	t.Parallel()
	f := newFake()
	g := mustNew(t, f)
	files := f.groups[g.Path()].text
	if err := g.Reclaim(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without the controller: %v", err)
	}
	files["memory.current"], files["memory.reclaim"] = "4096\n", ""
	for old, want := range map[bool]string{false: "4096 swappiness=200", true: "4096"} {
		f.old = old
		if err := g.Reclaim(); err != nil {
			t.Error(err)
		}
		same(t, "memory.reclaim", files["memory.reclaim"], want)
	}
	f.refused = g.Path() + "/memory.reclaim"
	if err := g.Reclaim(); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a group that cannot be written: %v", err)
	}
	if err := At("").Reclaim(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without a group: %v", err)
	}
}

// TestOutOfMemory: the reason names the limit that was reached.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	f := newFake()
	g := mustNew(t, f)
	files := f.groups[g.Path()].text
	files["memory.max"] = "201326592\n"
	for events, want := range map[string]string{
		"low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\noom_group_kill 0\n": "",
		"low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n":                   "",
		"max 9\noom 1\noom_kill 1\n":                                  "the kernel ended the worker: with its host it reached 192 MiB of memory, the limit of their control group",
		"max 0\noom 0\noom_kill 1\n":                                  "the kernel ended the worker: the machine, or all of the server, had no memory left",
	} {
		files["memory.events"] = events
		same(t, events, g.OutOfMemory(), want)
	}
	delete(files, "memory.events")
	same(t, "without the controller", g.OutOfMemory(), "")
}

// TestRemoveStuck: a group whose processes do not end is reported.
func TestRemoveStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		g := mustNew(t, f)
		f.slow = 1 << 30
		if err := g.Remove(); err == nil || !strings.Contains(err.Error(), "removing a control group") {
			t.Error(err)
		}
		f.groups[g.Path()].dying, f.slow = 0, 0
		for range 2 { // the second time it is not there
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestNone: without a group everything is as if there were no groups.
func TestNone(t *testing.T) {
	t.Parallel()
	g := At("")
	cmd, err := g.Start(func() *exec.Cmd { return exec.Command("/bin/true") })
	if err != nil || cmd.Wait() != nil || g.Limit(1) != nil || g.Remove() != nil || g.OutOfMemory() != "" || g.Path() != "" {
		t.Error("a group that is none:", g, err)
	}
}

// TestStartByMove: where the kernel does not start processes in a group, they are moved into it.
func TestStartByMove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // not of the kernel
	procs := filepath.Join(dir, "cgroup.procs")
	if err := os.WriteFile(procs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, err := At(dir).Start(func() *exec.Cmd { return exec.Command("/bin/true") })
	if err != nil || cmd.Wait() != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(procs)
	same(t, "the process", string(text), strconv.Itoa(cmd.Process.Pid))

	_ = os.Remove(procs)
	if cmd, err := At(dir).Start(func() *exec.Cmd { return exec.Command("/bin/sleep", "60") }); err == nil {
		t.Error("a process outside of its group:", cmd)
	}
	if _, err := At(dir).Start(func() *exec.Cmd { return exec.Command("/absent") }); err == nil {
		t.Error("an absent program starts")
	}
}

// TestFind: groups of containers and of hybrid hierarchies are found.
func TestFind(t *testing.T) {
	t.Parallel()
	for want, c := range map[string][3]string{
		"/sys/fs/cgroup/unified/a": {"4:memory:/x\n0::/a\n", "30 1 0:25 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n31 1 0:26 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"},
		"/sys/fs/cgroup/b":         {"0::/docker/1/b\n", "31 1 0:26 /docker/1 /sys/fs/cgroup rw master:3 - cgroup2 none rw\n"},
		"/sys/fs/cgroup":           {"0::/\n", "31 1 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n", "top"},
	} {
		at, err := find(&fake{own: c[0], mounts: c[1]})
		if err != nil || at.dir != want || at.top != (c[2] != "") {
			t.Errorf("%v: %+v, %v", c, at, err)
		}
	}
}
