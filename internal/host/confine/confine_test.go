//go:build linux

package confine_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"launch": launch, "probe": probe, "victim": victim, "open": open, "dial": dial, "collect": collect})
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

// TestConfinedProgram: a program on a confined thread, which stands for a worker that has broken out
// of V8, has its own files and nothing else: it reaches no process, file, memory or name of a socket
// of the same user. As root it tries that as root and as another user. An unconfined program does
// the same things, which shows that they are possible.
func TestConfinedProgram(t *testing.T) {
	t.Parallel()
	program := program(t)
	for _, uid := range users() {
		t.Run(fmt.Sprint("uid ", uid), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, program, uid)
			got := w.run(t, "launch")
			for what, want := range confined() {
				if got[what] != want {
					t.Errorf("%s: %s, want %s", what, got[what], want)
				}
			}
			w.unharmed(t)
			free := w.run(t, "probe")
			for what, want := range confined() {
				if result := free[what]; want != ok && result == want && !refusedAnyway[what] {
					t.Errorf("%s: %s for an unconfined program too", what, result)
				}
			}
		})
	}
}

const ok = "<nil>"

// confined is what a confined program gets on this kernel.
func confined() map[string]string {
	want := map[string]string{
		"complete": "true", "no-new-privs": "1", "seccomp": "2",
		"read": ok, "write": ok, "listen": ok, "pair": ok, "tcp-socket": ok, "udp-socket": ok, "route-socket": ok, "own-limit": ok, "own-affinity": ok, "cpuinfo": ok, "read-certificates": ok,
	}
	for _, what := range []string{
		"mount", "unshare", "ptrace", "signal", "signal-queue", "prlimit", "prlimit-get", "setpriority", "setpriority-user", "affinity", "scheduler", "scheduler-attr", "scheduler-param", "ioprio",
		"pidfd", "read-memory", "setsid", "setpgid", "chmod", "fchmodat", "fchmodat2", "fchmod", "chown", "utimes", "setxattr", "setxattr-own", "removexattr", "truncate", "inotify", "fanotify",
		"memfd", "execveat", "diag-socket", "packet-socket", "alg-socket", "vsock-socket", "xdp-socket", "tipc-socket", "unix-datagram", "mptcp-socket",
		"shmget", "msgget", "semget", "mq", "keyctl", "personality", "io-uring",
	} {
		want[what] = "EPERM"
	}
	for what, version := range map[string]int{
		"change-readable": 1, "read-other": 1, "read-shadow": 1, "read-keys": 1, "execute": 1, "proc": 1, "proc-net": 1, "proc-self": 1, "proc-victim": 1, "list": 1,
		"port": 4, "connect": 9,
	} {
		if confine.Version() >= version {
			want[what] = "EACCES"
		}
	}
	for what, path := range map[string]string{"read-keys": "/etc/ssl/private", "read-certificates": "/etc/ssl/certs"} {
		if _, err := os.Lstat(path); err != nil {
			delete(want, what) // this machine has none
		}
	}
	for _, what := range []string{"signal-thread", "abstract"} {
		if confine.Version() >= 6 {
			want[what] = "EPERM"
		}
	}
	if confine.Version() == 0 {
		want["complete"] = "false"
	}
	return want
}

// refusedAnyway are what not every user, kernel or machine allows.
var refusedAnyway = map[string]bool{
	"mount": true, "unshare": true, "ptrace": true, "read-shadow": true, "read-keys": true, "packet-socket": true, "alg-socket": true, "vsock-socket": true, "xdp-socket": true,
	"tipc-socket": true, "mptcp-socket": true, "fanotify": true, "chown": true, "setsid": true, "setpgid": true, "io-uring": true, "setpriority-user": true, "ioprio": true,
	"removexattr": true, "scheduler-attr": true, "setxattr": true, "setxattr-own": true, "complete": true, "no-new-privs": true, "seccomp": true, "mq": true, "fchmodat2": true,
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

// TestCapabilities: none is left but, to root, the one to read directories of other users.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, program(t), os.Geteuid())
	got := w.run(t, "launch")
	for _, what := range []string{"effective", "permitted"} {
		if caps := strings.Trim(got[what], "0"); caps != "" && caps != "4" {
			t.Errorf("%s capabilities: %s", what, got[what])
		}
	}
}
