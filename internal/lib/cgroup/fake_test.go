package cgroup

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// fake is a hierarchy of control groups with the rules of the kernel that matter here.
type fake struct {
	own, mounts string
	groups      map[string]*fakeGroup // by directory
	locked      map[string]bool
	isRoot      bool
	readOnly    string // groups at and below it cannot be changed
	marked      string // systemd has delegated it
	slow        int    // tries to remove a group whose processes were killed that fail
	old         bool   // without cgroup.kill, and memory.reclaim takes no options
	refused     string // file that takes no write
}

type fakeGroup struct {
	procs []string
	text  map[string]string // of the other files
	dying int
}

const mount = "/sys/fs/cgroup"

// newFake returns a hierarchy with the group of a unit, with pid 7 in it.
func newFake() *fake {
	f := &fake{
		own: "0::/system.slice/svcd.service\n", mounts: "29 1 0:26 / " + mount + " rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
		groups: map[string]*fakeGroup{mount: {text: map[string]string{"cgroup.controllers": "cpu io memory", "cgroup.subtree_control": "cpu io memory"}}},
		locked: map[string]bool{},
	}
	for _, dir := range []string{mount + "/system.slice", mount + "/system.slice/svcd.service"} {
		if err := f.mkdir(dir); err != nil {
			panic(err)
		}
		f.groups[dir].text["cgroup.subtree_control"] = "cpu memory"
	}
	f.unit().text["cgroup.subtree_control"] = ""
	f.unit().procs = []string{"7"}
	f.readOnly = mount + "/system.slice/x"
	return f
}

const unit = mount + "/system.slice/svcd.service"

func (f *fake) unit() *fakeGroup { return f.groups[unit] }

// below returns the groups below a directory, with their processes.
func (f *fake) below(dir string) string {
	var list []string
	for name, g := range f.groups {
		if path.Dir(name) == dir {
			list = append(list, path.Base(name)+":"+strings.Join(g.procs, ","))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (f *fake) read(name string) (string, error) {
	switch name {
	case "/proc/self/cgroup":
		return f.own, nil
	case "/proc/self/mountinfo":
		return f.mounts, nil
	}
	g := f.groups[path.Dir(name)]
	if g == nil {
		return "", fs.ErrNotExist
	}
	if path.Base(name) == "cgroup.procs" {
		return strings.Join(g.procs, "\n") + "\n", nil
	}
	text, ok := g.text[path.Base(name)]
	if !ok {
		return "", fs.ErrNotExist
	}
	return text, nil
}

func (f *fake) write(name, text string) error {
	dir, file := path.Split(name)
	g := f.groups[path.Clean(dir)]
	switch {
	case g == nil:
		return fs.ErrNotExist
	case strings.HasPrefix(dir, f.readOnly+"/") || name == f.refused:
		return unix.EACCES
	}
	switch file {
	case "cgroup.procs":
		return f.enter(path.Clean(dir), text)
	case "cgroup.subtree_control":
		if len(g.procs) > 0 {
			return unix.EBUSY
		}
		f.control(path.Clean(dir), text)
		return nil
	case "cgroup.kill":
		if f.old {
			return fs.ErrNotExist
		}
		g.procs, g.dying = nil, f.slow
		return nil
	}
	if _, ok := g.text[file]; !ok {
		return fs.ErrNotExist
	}
	if file == "memory.reclaim" && f.old && strings.Contains(text, " ") {
		return unix.EINVAL
	}
	g.text[file] = text
	return nil
}

// enter moves a process.
func (f *fake) enter(dir, pid string) error {
	if f.groups[dir].text["cgroup.subtree_control"] != "" {
		return unix.EBUSY
	}
	f.leave(pid)
	f.groups[dir].procs = append(f.groups[dir].procs, pid)
	return nil
}

func (f *fake) leave(pid string) {
	for _, g := range f.groups {
		g.procs = slices.DeleteFunc(g.procs, func(p string) bool { return p == pid })
	}
}

func (f *fake) mkdir(dir string) error {
	above := f.groups[path.Dir(dir)]
	switch {
	case above == nil:
		return fs.ErrNotExist
	case f.groups[dir] != nil:
		return fs.ErrExist
	case f.readOnly != "" && strings.HasPrefix(dir, f.readOnly+"/"):
		return unix.EACCES
	}
	g := &fakeGroup{text: map[string]string{"cgroup.type": "domain", "cgroup.subtree_control": ""}}
	g.control(above.text["cgroup.subtree_control"])
	f.groups[dir] = g
	return nil
}

// control changes the controllers of the groups in dir.
func (f *fake) control(dir, text string) {
	if strings.HasPrefix(text, "-") {
		text = ""
	}
	text = strings.ReplaceAll(text, "+", "")
	f.groups[dir].text["cgroup.subtree_control"] = text
	for name, g := range f.groups {
		if path.Dir(name) == dir {
			g.control(text)
		}
	}
}

// control gives g the files of controllers.
func (g *fakeGroup) control(controllers string) {
	g.text["cgroup.controllers"] = controllers
	for name := range strings.FieldsSeq(controllers) {
		switch name {
		case "memory":
			g.text["memory.max"], g.text["memory.swap.max"], g.text["memory.events"] = "max", "max", ""
		case "cpu":
			g.text["cpu.weight"] = "100"
		}
	}
}

func (f *fake) remove(dir string) error {
	g := f.groups[dir]
	switch {
	case g == nil:
		return fs.ErrNotExist
	case len(g.procs) > 0 || f.below(dir) != "":
		return unix.EBUSY
	case g.dying > 0:
		g.dying--
		return unix.EBUSY
	}
	delete(f.groups, dir)
	return nil
}

func (f *fake) list(dir string) (names []string, err error) {
	for entry := range strings.FieldsSeq(f.below(dir)) {
		name, _, _ := strings.Cut(entry, ":")
		names = append(names, name)
	}
	return names, nil
}

func (f *fake) lock(dir string) (io.Closer, error) {
	if f.locked[dir] {
		return nil, fmt.Errorf("flock: %w", unix.EWOULDBLOCK)
	}
	f.locked[dir] = true
	return unlock(func() { delete(f.locked, dir) }), nil
}

type unlock func()

func (u unlock) Close() error { u(); return nil }

func (f *fake) delegated(dir string) bool { return dir == f.marked }
func (f *fake) root() bool                { return f.isRoot }
func (f *fake) kill(pid int)              { f.leave(strconv.Itoa(pid)) }
