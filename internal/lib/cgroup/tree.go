package cgroup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// ownName is the group of the process that has a Tree, and of its other children.
	ownName = "daemon"
	// ownWeight is its share of the processors; that of each Group is 100. What answers
	// every version must not wait for one of them.
	ownWeight = "1000"
	prefix    = "runtime-"
)

var ours = regexp.MustCompile(`^` + prefix + `[0-9a-f]{8}$`)

// Tree makes groups below the group that was delegated to this process.
type Tree struct {
	fs          files
	dir         string
	lock        io.Closer
	controllers []string
}

// Open moves this process into a group of its own, below the one that it is in, and returns a
// Tree of the latter. If that is not possible the process stays where it is, and the error
// says why.
func Open() (*Tree, error) { return open(system{}, os.Getpid()) }

func open(f files, pid int) (*Tree, error) {
	at, err := find(f)
	if err != nil {
		return nil, err
	}
	t := &Tree{fs: f, dir: at.dir}
	moved := filepath.Base(at.dir) == ownName // by an earlier program of this process, or by systemd
	if moved {
		t.dir = filepath.Dir(at.dir)
	}
	if err := t.check(at); err != nil {
		return nil, err
	}
	t.lock, err = f.lock(t.dir)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, fmt.Errorf("another server uses the control group %s", t.dir)
	case err != nil:
		return nil, fmt.Errorf("locking the control group: %w", err)
	}
	if err := t.take(at, pid, moved); err != nil {
		return nil, errors.Join(err, t.lock.Close())
	}
	return t, nil
}

// check fails if the root of t is not for this process to change, and notes its controllers.
func (t *Tree) check(at place) error {
	if _, err := t.fs.read(t.file("cgroup.type")); err != nil {
		return fmt.Errorf("the control group %s is that of the whole machine", t.dir)
	}
	if !at.top && t.fs.root() && !t.fs.delegated(t.dir) {
		return fmt.Errorf("the control group %s is not delegated: Delegate= of the unit", t.dir)
	}
	text, err := t.fs.read(t.file("cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("reading the controllers of the control group: %w", err)
	}
	for name := range strings.FieldsSeq(text) {
		if name == "memory" || name == "cpu" {
			t.controllers = append(t.controllers, name)
		}
	}
	if len(t.controllers) == 0 {
		return fmt.Errorf("the control group %s has neither memory nor cpu among its controllers", t.dir)
	}
	slices.Sort(t.controllers)
	return nil
}

// take moves the processes of the root out of it, and has its groups use the controllers.
func (t *Tree) take(at place, pid int, moved bool) error {
	if !moved {
		if err := t.move(at, pid); err != nil {
			return err
		}
	}
	err := t.control("+")
	if err == nil && slices.Contains(t.controllers, "cpu") {
		err = t.fs.write(t.file(ownName, "cpu.weight"), ownWeight)
	}
	if err == nil {
		return nil
	}
	if !moved { // back to how it was, as far as possible
		_ = t.control("-")
		_ = t.fs.write(t.file("cgroup.procs"), strconv.Itoa(pid))
		_ = t.fs.remove(t.file(ownName))
	}
	return fmt.Errorf("using the control group %s: %w", t.dir, err)
}

// control has the groups of t use the controllers, with "+", or not, with "-".
func (t *Tree) control(sign string) error {
	return t.fs.write(t.file("cgroup.subtree_control"), sign+strings.Join(t.controllers, " "+sign))
}

// move moves this process into its own group, with all others of the root if that is the root
// of a container. Elsewhere others do not belong to us, and make the root useless.
func (t *Tree) move(at place, pid int) error {
	text, err := t.fs.read(t.file("cgroup.procs"))
	if err != nil {
		return fmt.Errorf("reading the processes of the control group: %w", err)
	}
	all := strings.Fields(text)
	if !at.top && !slices.Equal(all, []string{strconv.Itoa(pid)}) {
		return fmt.Errorf("the control group %s has %d other processes", t.dir, len(all)-1)
	}
	if err := t.fs.mkdir(t.file(ownName)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a control group: %w", err)
	}
	for _, one := range all {
		if err := t.fs.write(t.file(ownName, "cgroup.procs"), one); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("moving process %s into a control group: %w", one, err)
		}
	}
	return nil
}

func (t *Tree) file(names ...string) string {
	return filepath.Join(append([]string{t.dir}, names...)...)
}

// Controllers returns which of cpu and memory the groups of t have.
func (t *Tree) Controllers() []string { return slices.Clone(t.controllers) }

// Dir returns the path of the group whose groups t makes.
func (t *Tree) Dir() string { return t.dir }

// Clear ends the processes of all groups of t, and removes the groups.
func (t *Tree) Clear() error {
	names, err := t.fs.list(t.dir)
	if err != nil {
		return fmt.Errorf("reading the control group: %w", err)
	}
	var errs []error
	for _, name := range names {
		if ours.MatchString(name) {
			errs = append(errs, (&Group{t.fs, t.file(name)}).Remove())
		}
	}
	return errors.Join(errs...)
}

// New makes a group. id has eight hexadecimal digits and is not that of another group.
func (t *Tree) New(id string) (*Group, error) {
	g := &Group{t.fs, t.file(prefix + id)}
	if err := t.fs.mkdir(g.dir); err != nil {
		return nil, fmt.Errorf("making a control group: %w", err)
	}
	return g, nil
}

// Close lets another process use the root. The groups stay.
func (t *Tree) Close() error { return t.lock.Close() }
