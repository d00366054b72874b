//go:build e2e && linux

package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// leaves waits for the end of the interface, and checks what it leaves behind.
func (a *admin) leaves() {
	a.t.Helper()
	svctest.Wait(a.t, "the end of the interface", a.exited)
	if code := a.cmd.ProcessState.ExitCode(); code != 0 {
		a.t.Errorf("exit code %d; the terminal shows %q", code, a.out.String()[a.read:])
	}
	if !a.Edits() {
		a.t.Error("the terminal neither edits lines nor echoes them")
	}
}

// restored waits for what gives the terminal its own screen, cursor and mouse back.
func (a *admin) restored() {
	a.t.Helper()
	for _, sequence := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?1002l"} {
		svctest.Eventually(a.t, sequence+" on the terminal", func() bool { return strings.Contains(a.out.String(), sequence) })
	}
}

// TestUITabs: each tab of a version and of the server shows what a real server has of it, and
// SIGTERM ends the interface and restores the terminal.
func TestUITabs(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	d.deploy(dir, "--version", "v1")
	v := d.deploy(dir, "--version", "v2", "--parent", "v1", "--var", "GREETING:Moin")
	d.get(v.PreviewURL + "/api?from=the-test")
	a := d.ui(d.note.API, "guestbook/v2")
	a.Resize(160, 50)
	a.sees("[timeline]")
	for _, tab := range []struct {
		name  string
		shows []string
	}{
		{"logs", []string{"GET /api"}},
		{"env", []string{"GREETING", "(hidden, 4 bytes)"}},
		{"bindings", []string{"DB", "began as that of v1"}},
		{"data", []string{"VISITS", "signed"}},
		{"process", []string{"serving", strings.TrimPrefix(strings.Split(v.PreviewURL, ":")[1], "//")}},
		{"bundle", []string{"index.js", "0001_"}},
		{"compare", []string{"GREETING"}},
	} {
		a.Press("]")
		a.draws("["+tab.name+"]", tab.shows...)
		if tab.name == "env" {
			a.Press("v")
			a.sees("Moin")
		}
	}
	a.Press("]")
	a.sees("[timeline]")
	a.Press(":server\r")
	a.draws("[settings]", "object store embedded", "SVC_ADMIN_TOKEN")
	for _, tab := range []struct {
		name  string
		shows []string
	}{
		{"routes", []string{"guestbook/v2", "serving"}},
		{"nodes", []string{"no machine has joined"}},
		{"gateways", []string{"server", "current"}},
		{"leases", []string{"its object store is its own", "this server"}},
		{"tokens", []string{"deploy", "never"}},
		{"log", []string{"of the server", "request served"}},
	} {
		a.Press("]")
		a.draws("["+tab.name+"]", tab.shows...)
	}
	if a.Edits() {
		t.Error("the terminal echoes keys while the interface runs")
	}
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	a.leaves()
	a.restored()
}

// draws waits until all texts were drawn, in any order.
func (a *admin) draws(text string, more ...string) {
	a.t.Helper()
	from := a.read
	for _, want := range append(more, text) {
		a.read = from
		a.sees(want)
	}
}

// TestUIPlain: with --plain a terminal shows lines, without any escape sequence.
func TestUIPlain(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.deploy("../../../examples/guestbook", "--version", "v1")
	a := d.ui(d.note.API, "--plain=true")
	a.sees("selected 1. guestbook, production v1")
	a.Press("versions guestbook\n")
	a.sees("selected 1. v1, status ready, production")
	a.Press("P\n")
	a.draws("guestbook/v1 pinned", "status ready, production, pinned") // also if the event of the change comes later
	a.Press("x\n")
	a.sees("v1 is production: promote another version first")
	a.Press("R\n")
	a.sees("v1 is the first production of guestbook: there is no version to roll back to")
	a.Press("data guestbook/v1\n")
	a.sees("kind database")
	a.Press("q\n")
	a.leaves()
	if drawn := a.out.String(); strings.Contains(drawn, "\x1b") {
		t.Errorf("escape sequences in %q", drawn)
	}
}
