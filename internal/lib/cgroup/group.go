package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// removeLimit is how long the processes of a group that is removed may take to end.
const removeLimit = 5 * time.Second

// Group is a control group. A nil Group is none: it limits nothing.
type Group struct {
	fs  files
	dir string
}

// At returns the group whose Path is dir, or nil if dir is "".
func At(dir string) *Group {
	if dir == "" {
		return nil
	}
	return &Group{system{}, dir}
}

// Path returns the directory of the group, or "".
func (g *Group) Path() string {
	if g == nil {
		return ""
	}
	return g.dir
}

func (g *Group) file(name string) string { return g.dir + "/" + name }

// Start starts the command that command makes, and makes anew if it is called again, in the
// group. Nothing of the program runs outside of it, unless a container refuses such starts.
func (g *Group) Start(command func() *exec.Cmd) (*exec.Cmd, error) {
	cmd := command()
	if g == nil {
		return cmd, cmd.Start()
	}
	dir, err := os.Open(g.dir)
	if err != nil {
		return nil, fmt.Errorf("opening the control group: %w", err)
	}
	defer dir.Close()
	if enter(cmd, dir) && cmd.Start() == nil {
		return cmd, nil
	}
	cmd = command()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := g.fs.write(g.file("cgroup.procs"), strconv.Itoa(cmd.Process.Pid)); err != nil {
		return nil, errors.Join(fmt.Errorf("moving a process into its control group: %w", err), cmd.Process.Kill(), ended(cmd))
	}
	return cmd, nil
}

// ended waits for the end of a process that was killed.
func ended(cmd *exec.Cmd) error {
	var e *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &e) {
		return err
	}
	return nil
}

// Limit sets the limit of memory in bytes, and of memory that is swapped out, 0 for none. It does
// nothing in a group without the controller.
func (g *Group) Limit(bytes int64) error {
	if g == nil {
		return nil
	}
	text := "max"
	if bytes > 0 {
		text = strconv.FormatInt(bytes, 10)
	}
	for _, name := range []string{"memory.max", "memory.swap.max"} { // the latter is not there without swap
		if err := g.fs.write(g.file(name), text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("limiting the memory of a control group: %w", err)
		}
	}
	return nil
}

// Reclaim asks the kernel to move the memory of the group to swap, and where it cannot tell that
// from pages of files, those as well. What the processes need comes back by itself. The error
// of a nil Group, of one without the controller and of a kernel before Linux 5.19 is
// errors.ErrUnsupported.
func (g *Group) Reclaim() error {
	if g == nil {
		return fmt.Errorf("reclaiming memory without a control group: %w", errors.ErrUnsupported)
	}
	now, err := g.fs.read(g.file("memory.current"))
	if err == nil {
		now = strings.TrimSpace(now)
		if err = g.fs.write(g.file("memory.reclaim"), now+" swappiness=200"); errors.Is(err, unix.EINVAL) { // an older kernel
			err = g.fs.write(g.file("memory.reclaim"), now)
		}
	}
	switch {
	case err == nil || errors.Is(err, unix.EAGAIN): // not everything can be moved
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = errors.Join(err, errors.ErrUnsupported)
	}
	return fmt.Errorf("reclaiming the memory of a control group: %w", err)
}

// OutOfMemory says for what limit the kernel killed a process of the group, "" if it has
// killed none.
func (g *Group) OutOfMemory() string {
	if g == nil || g.count("oom_kill") == 0 {
		return ""
	}
	limit, _ := g.fs.read(g.file("memory.max"))
	bytes, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64)
	if err != nil || g.count("oom") == 0 {
		return "the kernel ended the worker: the machine, or all of the server, had no memory left"
	}
	return fmt.Sprintf("the kernel ended the worker: with its host it reached %d MiB of memory, the limit of their control group", bytes>>20)
}

// count returns a number of memory.events.
func (g *Group) count(event string) int {
	text, _ := g.fs.read(g.file("memory.events")) // without the file the kernel counts nothing
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == event {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}

// Remove ends the processes of the group and removes it. A group that is not there is removed.
func (g *Group) Remove() error {
	if g == nil {
		return nil
	}
	g.kill()
	for wait, until := time.Millisecond, time.Now().Add(removeLimit); ; wait = min(2*wait, removeLimit/50) {
		err := g.fs.remove(g.dir)
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, unix.EBUSY) || time.Now().After(until):
			return fmt.Errorf("removing a control group: %w", err)
		}
		<-time.After(wait) // a killed process takes a moment to end
	}
}

// kill kills all processes of the group.
func (g *Group) kill() {
	if g.fs.write(g.file("cgroup.kill"), "1") == nil {
		return
	}
	text, _ := g.fs.read(g.file("cgroup.procs")) // before Linux 5.14
	for pid := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(pid); err == nil && n > 0 { // 0 is a process outside of this container
			g.fs.kill(n)
		}
	}
}
