package cgroup

import (
	"strings"
	"testing"
)

// mustOpen opens the Tree of the process 7.
func mustOpen(t *testing.T, f *fake) *Tree {
	t.Helper()
	tree, err := open(f, 7)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// same fails unless two texts are equal.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestOpen: the process leaves the group of its unit, whose groups get the controllers. The
// program that replaces it, in the same process, finds the same Tree.
func TestOpen(t *testing.T) {
	t.Parallel()
	f := newFake()
	tree := mustOpen(t, f)
	same(t, "groups", f.below(unit), "daemon:7")
	same(t, "controllers", f.unit().text["cgroup.subtree_control"], "cpu memory")
	same(t, "weight", f.groups[unit+"/daemon"].text["cpu.weight"], "1000")
	if _, err := tree.New("0123abcd"); err != nil {
		t.Error(err)
	}
	f.own = "0::/system.slice/svcd.service/daemon\n"
	if _, err := open(f, 7); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second one: %v", err)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
	same(t, "the directory", mustOpen(t, f).Dir(), tree.Dir())
	same(t, "groups", f.below(unit), "daemon:7 runtime-0123abcd:")
}

// TestOpenRefused: where groups cannot be made, the process stays where it is, and nothing is left.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*fake){
		"no control groups of version 2":        func(f *fake) { f.own = "4:memory:/\n" },
		"does not show that of the server":      func(f *fake) { f.own = "0::/../svcd.service\n" },
		"or does not show":                      func(f *fake) { f.mounts = "29 1 0:26 / " + mount + " rw - tmpfs tmpfs rw\n" },
		"that of the whole machine":             func(f *fake) { f.own = "0::/\n" },
		"neither memory nor cpu":                func(f *fake) { f.unit().text["cgroup.controllers"] = "io pids" },
		"1 other processes":                     func(f *fake) { f.unit().procs = []string{"6", "7"} },
		"permission denied":                     func(f *fake) { f.readOnly = unit },
		"is not delegated: Delegate=":           func(f *fake) { f.isRoot = true },
		"using the control group " + unit:       func(f *fake) { f.refused = unit + "/cgroup.subtree_control" },
		"using the control group " + unit + ":": func(f *fake) { f.refused = unit + "/daemon/cpu.weight" },
		"another server uses":                   func(f *fake) { f.locked[unit] = true },
	} {
		f := newFake()
		change(f)
		procs := f.unit().procs
		if _, err := open(f, 7); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		same(t, want+": groups", f.below(unit), "")
		same(t, want+": processes", strings.Join(f.unit().procs, " "), strings.Join(procs, " "))
	}
}

// TestOpenAsRoot: root uses a group that systemd has delegated, and all of a container.
func TestOpenAsRoot(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.isRoot, f.marked = true, unit
	mustOpen(t, f)

	f = newFake()
	f.isRoot, f.own = true, "0::/\n"
	f.mounts = "31 1 0:26 / " + unit + " rw - cgroup2 cgroup rw\n"
	f.unit().procs = []string{"1", "7"}
	mustOpen(t, f)
	same(t, "groups", f.below(unit), "daemon:1,7")
	f.own, f.locked = "0::/daemon\n", map[string]bool{}
	same(t, "the directory", mustOpen(t, f).Dir(), unit)
}

// TestControllers: one controller is enough.
func TestControllers(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.unit().text["cgroup.controllers"] = "memory pids"
	tree := mustOpen(t, f)
	same(t, "controllers of the tree", strings.Join(tree.Controllers(), " "), "memory")
	same(t, "controllers", f.unit().text["cgroup.subtree_control"], "memory")
}

// TestClear: what a killed server left ends and is removed, and nothing else.
func TestClear(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		f := newFake()
		tree := mustOpen(t, f)
		f.slow, f.old = 3, old
		for _, name := range []string{"runtime-0123abcd", "runtime-other", "other"} {
			if err := f.mkdir(unit + "/" + name); err != nil {
				t.Fatal(err)
			}
		}
		f.groups[unit+"/runtime-0123abcd"].procs = []string{"8", "0", "9"}
		if old {
			f.groups[unit+"/runtime-0123abcd"].procs = []string{"8", "9"}
		}
		if err := tree.Clear(); err != nil {
			t.Error(err)
		}
		same(t, "groups", f.below(unit), "daemon:7 other: runtime-other:")
	}
}
