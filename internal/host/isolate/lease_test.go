//go:build linux

package isolate_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// rights says whether this process may isolate. If it may not, Check must have said why.
func rights(t *testing.T, from svc.Isolation) bool {
	t.Helper()
	err := isolate.Check(svctest.ShortDir(t), from)
	if err != nil && (os.Geteuid() == 0 || svc.CodeOf(err) != svc.CodeIsolation || !strings.Contains(err.Error(), "CAP_SETUID")) {
		t.Errorf("Check: %v", err)
	}
	return err == nil
}

// TestTake: a uid has one holder at a time, in this process and in others, and is free when the holder
// is killed.
func TestTake(t *testing.T) {
	t.Parallel()
	base, from := svctest.ShortDir(t), svc.Isolation{First: 1910000000, Last: 1910000002}
	var uids []int
	var leases []*isolate.Lease
	for range 2 {
		l, err := isolate.Take(base, from)
		if err != nil {
			t.Fatal(err)
		}
		leases, uids = append(leases, l), append(uids, l.UID)
	}
	p := svctest.Start(t, "take", base, from.String())
	if !p.AwaitLines(t, 1) {
		t.Fatal(p.Stderr())
	}
	uid, _ := strconv.Atoi(p.Lines()[0])
	if uids = append(uids, uid); !slices.Equal(slices.Sorted(slices.Values(uids)), []int{from.First, from.First + 1, from.Last}) {
		t.Errorf("uids: %v", uids)
	}
	if _, err := isolate.Take(base, from); svc.CodeOf(err) != svc.CodeIsolationUIDs {
		t.Errorf("a fourth one: %v", err)
	}
	p.Kill()
	l, err := isolate.Take(base, from)
	if err != nil || l.UID != uid {
		t.Fatalf("after the end of its holder: %+v, %v", l, err)
	}
	for _, l := range append(leases, l) {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// as starts a process with a uid. It leaves the process group.
func as(t *testing.T, uid int) (ended <-chan error) {
	t.Helper()
	line := svctest.Command("stay")
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: line, Dir: "/", SysProcAttr: &syscall.SysProcAttr{
		Setsid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)},
	}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return done
}

// TestLeft: what the holder of a uid has left running ends before the next one gets the uid, and when
// a server sweeps; not while the holder lives.
func TestLeft(t *testing.T) {
	t.Parallel()
	base, from := svctest.ShortDir(t), svc.Isolation{First: 1910000010, Last: 1910000010}
	if !rights(t, from) {
		return
	}
	for what, end := range map[string]func() error{
		"sweep": func() error { return isolate.Sweep(base, from) },
		"take": func() error {
			l, err := isolate.Take(base, from)
			if err == nil {
				err = l.Close()
			}
			return err
		},
	} {
		l, err := isolate.Take(base, from)
		if err != nil {
			t.Fatal(err)
		}
		ended := as(t, l.UID)
		if err := isolate.Sweep(base, from); err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			t.Errorf("%s: a process ended while its uid was held: %v", what, err)
		default:
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := svctest.Wait(t, what, ended); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestStranger: a process of another program is not ended, and its uid is refused.
func TestStranger(t *testing.T) {
	t.Parallel()
	base, from := svctest.ShortDir(t), svc.Isolation{First: 1910000020, Last: 1910000029}
	if !rights(t, from) {
		return
	}
	ended := as(t, 1910000025)
	if err := isolate.Sweep(base, from); err != nil {
		t.Error(err)
	}
	if err := isolate.Check(base, from); svc.CodeOf(err) != svc.CodeIsolation || !strings.Contains(err.Error(), "1910000025") {
		t.Errorf("Check: %v", err)
	}
	select {
	case err := <-ended:
		t.Errorf("the process ended: %v", err)
	default:
	}
}

// TestTry: a program runs as a user of its own, in no group of the server's, although that user may not
// reach the file of the program. One that cannot run is refused.
func TestTry(t *testing.T) {
	t.Parallel()
	base, from := svctest.ShortDir(t), svc.Isolation{First: 1910000030, Last: 1910000039}
	if !rights(t, from) {
		return
	}
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := isolate.Try(t.Context(), base, from, "/bin/true"); err != nil {
		t.Error(err)
	}
	if err := isolate.Try(t.Context(), base, from, "/bin/false"); svc.CodeOf(err) != svc.CodeIsolation {
		t.Errorf("a program that fails: %v", err)
	}
	l, err := isolate.Take(base, from)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := dressed(t, l)
	out, err := cmd.Output()
	uid := strconv.Itoa(l.UID)
	if want := uid + " " + uid + " " + uid + " []\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// dressed is this program, in the role self, in a place that only this user can reach.
func dressed(t *testing.T, l *isolate.Lease) *exec.Cmd {
	t.Helper()
	line := svctest.Command("self")
	private := t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	path := private + "/program"
	text, err := os.ReadFile(line[0])
	if err == nil {
		err = os.WriteFile(path, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := svctest.ShortDir(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), path, line[1:]...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{}
	release, err := l.Dress(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return cmd
}
