package reap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/lib/reap"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"first": first, "program": program})
}

// first is the first process of a container.
func first(context.Context, []string) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	argv := svctest.Command("program")
	code, err := reap.Run(argv, os.Environ())
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}

// program leaves a process without a parent, prints its id, and ends with 7 at SIGHUP.
func program(context.Context, []string) error {
	out, err := exec.Command("/bin/sh", "-c", "/bin/true >/dev/null & echo $!").Output()
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	fmt.Print(string(out))
	<-hangup
	os.Exit(7)
	return nil
}

// TestRun: a process without a parent does not stay as a zombie; signals and the exit
// code are passed on.
func TestRun(t *testing.T) {
	t.Parallel()
	argv := svctest.Command("first")
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var orphan int
	if _, err := fmt.Fscan(out, &orphan); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the orphan is reaped", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", orphan))
		return errors.Is(err, os.ErrNotExist)
	})
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

func TestRunWithoutProgram(t *testing.T) {
	t.Parallel()
	if _, err := reap.Run([]string{"/absent/program"}, nil); err == nil || !strings.Contains(err.Error(), "/absent/program") {
		t.Error(err)
	}
}
