//go:build e2e && linux

package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// ends waits for the end of the command with an exit code, and checks the terminal.
func (a *admin) ends(code int) {
	a.t.Helper()
	svctest.Wait(a.t, "the end of the command", a.exited)
	if got := a.cmd.ProcessState.ExitCode(); got != code {
		a.t.Errorf("exit code %d, want %d: %q", got, code, a.out)
	}
	if !a.Edits() {
		a.t.Error("the terminal is not restored")
	}
}

// inTerminal starts a command of the program in a terminal.
func (d *daemon) inTerminal(args ...string) *admin {
	d.t.Helper()
	a := &admin{t: d.t, out: &svctest.Buffer{}, exited: make(chan struct{}), cmd: exec.Command(program(), args...)}
	a.cmd.Env = append(d.env, "TERM=xterm-256color")
	a.Terminal = svctest.InTerminal(d.t, a.cmd, a.out)
	go func() { _ = a.cmd.Wait(); close(a.exited) }()
	d.t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		<-a.exited
	})
	return a
}

// TestChoose: on a terminal, a command without the version that it needs offers a list of
// projects and of versions. Esc leaves with the error of the command line.
func TestChoose(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "v2")
	a := d.inTerminal("versions", "get")
	a.sees("choose a project: _")
	a.Press("guest\r")
	a.sees("  v1  ready")
	a.Press("prod\r")
	a.sees("guestbook/v1: ready, production")
	a.ends(0)
	if !strings.Contains(a.out.String(), "choose a version of guestbook: v1") {
		t.Errorf("the choice is not noted: %q", a.out)
	}

	a = d.inTerminal("versions", "pin", "--project", "guestbook")
	a.sees("2 of 2; type to filter")
	a.Resize(30, 8)
	a.Press("\x1b[B\x1b")
	a.sees("Error: missing argument: svcctl versions pin [PROJECT/]VERSION")
	a.ends(2)

	a = d.inTerminal("promote", "--project", "guestbook")
	a.sees("1 of 1; type to filter")
	a.Press("\x03")
	a.sees("interrupted; nothing was changed")
	a.ends(130)

	a = d.inTerminal("promote", "--project", "guestbook")
	a.sees("> v2")
	a.Press("\r")
	a.sees("the promote leaves these writes in v1") // v2 is a root: all of v1's
	a.Press("v2\r")
	a.sees("v2 is production at")
	a.ends(0)
}
