//go:build linux

package confine_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// other is a user who has no rights on this machine.
const other = 4242

func users() []int {
	if os.Geteuid() == 0 {
		return []int{0, other}
	}
	return []int{os.Geteuid()}
}

// program copies this test binary to where other users can execute it.
func program(t *testing.T) string {
	t.Helper()
	dir := openDir(t, os.Geteuid())
	self, err := os.ReadFile(svctest.Command("")[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, self, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// openDir makes a directory of a user that all users may enter.
func openDir(t *testing.T, uid int) string {
	t.Helper()
	dir := svctest.ShortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, -1); err != nil {
		t.Fatal(err)
	}
	return dir
}

// world is what a program of a user may want to reach.
type world struct {
	program            string
	uid                int
	read, write, other string
	victim             *exec.Cmd
}

func newWorld(t *testing.T, program string, uid int) *world {
	t.Helper()
	w := &world{program: program, uid: uid, read: openDir(t, uid), write: openDir(t, uid), other: openDir(t, uid)}
	for _, dir := range []string{w.read, w.other} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	w.victim = w.command("victim", w.other)
	in, err := w.victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.victim.StdoutPipe()
	if err == nil {
		err = w.victim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = w.victim.Process.Kill(); _ = w.victim.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the victim: %v", err)
	}
	return w
}

func (w *world) command(role string, args ...string) *exec.Cmd {
	line := svctest.Command(role, args...)
	c := exec.Command(w.program, line[1:]...)
	c.Stderr = os.Stderr
	if w.uid != os.Geteuid() {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}}
	}
	return c
}

// run returns what a role says about each thing that it tried.
func (w *world) run(t *testing.T, role string) map[string]string {
	t.Helper()
	out, err := w.command(role, w.read, w.write, w.other, strconv.Itoa(w.victim.Process.Pid)).Output()
	if err != nil {
		t.Errorf("%s: %v", role, err)
	}
	return results(string(out))
}

// results are what a program has said, by what it has tried.
func results(out string) map[string]string {
	got := map[string]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		got[line[:max(i, 0)]] = line[i+1:]
	}
	return got
}

// unharmed checks that the victim, and the files of the user, are as before.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	if err := w.victim.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the victim has ended: %v", err)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", w.victim.Process.Pid))
	if err != nil || !strings.Contains(string(limits), "Max cpu time              unlimited ") {
		t.Errorf("the limits of the victim: %s, %v", limits, err)
	}
	info, err := os.Stat(filepath.Join(w.other, "file"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 1 || info.ModTime().Unix() == 1 {
		t.Errorf("the file of another program: %v, %v", info, err)
	}
}

// victim is a program of the same user. It listens in the directory args[0] and at an abstract name.
func victim(_ context.Context, args []string) error {
	for _, name := range []string{filepath.Join(args[0], "socket"), "@" + args[0]} {
		l, err := net.Listen("unix", name)
		if err != nil {
			return err
		}
		defer l.Close()
	}
	fmt.Fprintln(os.Stdout, "listens")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
