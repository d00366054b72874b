//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// running is a command of the program that ends when it is interrupted, as watch mode does.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	exited chan struct{}
	out    *svctest.Buffer
	read   int // bytes of out that were awaited
}

// begin starts the command.
func (r *running) begin() {
	r.t.Helper()
	r.out, r.read, r.exited = &svctest.Buffer{}, 0, make(chan struct{})
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func(cmd *exec.Cmd, exited chan struct{}) { _ = cmd.Wait(); close(exited) }(r.cmd, r.exited)
}

// follows starts a command of the program beside a daemon. The command is killed at the
// end of the test.
func (d *daemon) follows(args ...string) *running {
	d.t.Helper()
	r := &running{t: d.t, cmd: exec.Command(program(), args...)}
	r.cmd.Dir, r.cmd.Env = d.home, d.env
	r.begin()
	d.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.exited
		if d.t.Failed() {
			d.t.Logf("svcctl %v printed:\n%s", args, r.out.String())
		}
	})
	return r
}

// await waits for output that matches, after what was awaited before.
func (r *running) await(pattern string) []string {
	r.t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	svctest.Succeeds(r.t, pattern, func() error {
		text := r.out.String()[r.read:]
		at := re.FindStringIndex(text)
		if at == nil {
			select {
			case <-r.exited:
				r.t.Fatalf("the command ended before it printed %q", pattern)
			default:
			}
			return fmt.Errorf("printed %q", text)
		}
		found = re.FindStringSubmatch(text)
		r.read += at[1]
		return nil
	})
	return found
}

// interrupt ends the command as Ctrl-C does, and returns its exit code.
func (r *running) interrupt() int {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Fatal(err)
	}
	svctest.Wait(r.t, "the end of the command", r.exited)
	return r.cmd.ProcessState.ExitCode()
}
