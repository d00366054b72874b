//go:build linux

package confine_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"launch": launch, "probe": probe, "open": open})
}

// launch executes the role probe, confined to the directories args: to read, and to write.
func launch(_ context.Context, args []string) error {
	runtime.LockOSThread()
	command := svctest.Command("probe", args...)
	r, err := confine.Thread(confine.Profile{Program: command[0], Read: args[:1], Write: args[1:2]})
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "complete", r.Complete())
	return syscall.Exec(command[0], command, os.Environ())
}

// probe tries what a confined program may do and may not do, and says the results.
func probe(_ context.Context, args []string) error {
	say := func(what string, err error) {
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			fmt.Fprintln(os.Stdout, what, unix.ErrnoName(errno))
			return
		}
		fmt.Fprintln(os.Stdout, what, err)
	}
	read, write, other := args[0], args[1], args[2]
	_, err := os.ReadFile(filepath.Join(read, "file"))
	say("read", err)
	say("change-readable", os.WriteFile(filepath.Join(read, "new"), nil, 0o600))
	say("write", os.WriteFile(filepath.Join(write, "new"), nil, 0o600))
	l, err := net.Listen("unix", filepath.Join(write, "socket"))
	say("listen", err)
	if err == nil {
		_ = l.Close()
	}
	_, err = os.ReadFile(filepath.Join(other, "file"))
	say("read-other", err)
	_, err = os.ReadFile("/etc/shadow")
	say("read-shadow", err)
	say("execute", syscall.Exec("/bin/sh", []string{"sh", "-c", "true"}, nil))
	say("mount", unix.Mount("none", write, "tmpfs", 0, ""))
	say("unshare", unix.Unshare(unix.CLONE_NEWUSER))
	say("ptrace", unix.PtraceAttach(os.Getppid()))
	say("parent", syscall.Kill(os.Getppid(), 0))
	status, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); slices.Contains([]string{"NoNewPrivs:", "Seccomp:", "CapEff:", "CapBnd:"}, fields[0]) {
			fmt.Fprintln(os.Stdout, fields[0], fields[1])
		}
	}
	return err
}

// TestThread: a program on a confined thread has its files and nothing else. A kernel
// without Landlock restricts system calls alone, and the report says so.
func TestThread(t *testing.T) {
	t.Parallel()
	read, write, other := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{read, other} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, line := range svctest.Start(t, "launch", read, write, other).Result(t) {
		what, result, _ := strings.Cut(line, " ")
		got[what] = result
	}
	want := map[string]string{
		"complete": "true", "read": "<nil>", "change-readable": "EACCES", "write": "<nil>", "listen": "<nil>", "read-other": "EACCES",
		"read-shadow": "EACCES", "execute": "EACCES", "mount": "EPERM", "unshare": "EPERM", "ptrace": "EPERM", "NoNewPrivs:": "1", "Seccomp:": "2",
	}
	if !confine.Supported() {
		want["complete"] = "false"
		for _, what := range []string{"change-readable", "read-other", "read-shadow", "execute"} {
			delete(want, what)
		}
	}
	if confine.ScopesSignals() {
		want["parent"] = "EPERM"
	}
	for what, result := range want {
		if got[what] != result {
			t.Errorf("%s: %s, want %s", what, got[what], result)
		}
	}
	const readSearch = "0000000000000004"
	if caps := got["CapEff:"]; strings.Trim(caps, "0") != "" && caps != readSearch {
		t.Errorf("capabilities: %s", caps)
	}
}

// BenchmarkThread is what the start of a version pays.
func BenchmarkThread(b *testing.B) {
	command := svctest.Command("probe")
	for b.Loop() {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // and ends with the goroutine
			_, err := confine.Thread(confine.Profile{Program: command[0], Read: []string{b.TempDir()}})
			done <- err
		}()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}
