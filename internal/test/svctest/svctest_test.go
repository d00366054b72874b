package svctest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"echo": echo, "fail": fail})
}

// echo says its arguments, a line each, and ends when its stdin does.
func echo(_ context.Context, args []string) error {
	fmt.Fprint(os.Stderr, "on stderr")
	for _, a := range args {
		fmt.Println(a)
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	fmt.Println("END")
	return err
}

func fail(context.Context, []string) error { return errors.New("no luck") }

func TestProcess(t *testing.T) {
	t.Parallel()
	p := svctest.Start(t, "echo", "READY 1", "x")
	if !p.Await(t, "READY") || !p.AwaitLines(t, 2) {
		t.Errorf("it said %q", p.Lines())
	}
	p.CloseStdin()
	if lines := p.Result(t); !slices.Equal(lines, []string{"READY 1", "x", "END"}) || p.Killed() || p.Stderr() != "on stderr" {
		t.Errorf("it said %q and %q", lines, p.Stderr())
	}
	if p.Await(t, "REA") || p.AwaitNext(t, "END") || p.AwaitLines(t, 4) {
		t.Error("an ended process says no more")
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	p := svctest.Start(t, "echo")
	p.Kill()
	if svctest.Wait(t, "the end", p.Ended()); !p.Killed() {
		t.Errorf("it ended by %v", p.State())
	}
	p.Signal(syscall.SIGCONT) // is no error
}

func TestRoleFails(t *testing.T) {
	t.Parallel()
	p := svctest.Start(t, "fail")
	if code := p.State().ExitCode(); code != 1 || !strings.Contains(p.Stderr(), "no luck") {
		t.Errorf("exit code %d, %s", code, p.Stderr())
	}
}

func TestEventually(t *testing.T) {
	t.Parallel()
	n := 0
	svctest.Eventually(t, "the third time", func() bool { n++; return n == 3 })
	svctest.Succeeds(t, "the fifth time", func() error {
		if n++; n < 5 {
			return errors.ErrUnsupported
		}
		return nil
	})
	if n != 5 {
		t.Errorf("asked %d times", n)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	svctest.Golden(t, "testdata/golden.txt", "what was expected\n")
}
