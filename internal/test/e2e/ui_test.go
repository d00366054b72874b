//go:build e2e && linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// admin is a person with `svcctl ui` in a terminal.
type admin struct {
	*svctest.Terminal

	t      *testing.T
	out    *svctest.Buffer
	read   int
	exited chan struct{}
	cmd    *exec.Cmd
}

// forwarder is an address that stays while the daemon behind it restarts.
func forwarder(t *testing.T, to *atomic.Value) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to.Load().(string)) //nolint:forcetypeassert // nothing else is in it
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func (d *daemon) ui(server string, args ...string) *admin {
	d.t.Helper()
	a := &admin{t: d.t, out: &svctest.Buffer{}, exited: make(chan struct{}), cmd: exec.Command(program(), append([]string{"ui"}, args...)...)}
	a.cmd.Env = append(d.env, "TERM=xterm-256color", "SVCCTL_SERVER="+server, "SVCCTL_ADMIN_TOKEN="+d.note.AdminToken, "SVCCTL_DEPLOY_TOKEN="+d.note.DeployToken)
	a.Terminal = svctest.InTerminal(d.t, a.cmd, a.out)
	go func() { _ = a.cmd.Wait(); close(a.exited) }()
	d.t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		<-a.exited
	})
	return a
}

var escapes = regexp.MustCompile("\x1b(\\[[0-9;?]*[A-Za-z]|\\][^\x07]*\x07)")

// sees waits for a text that is drawn after what was seen before.
func (a *admin) sees(text string) {
	a.t.Helper()
	svctest.Succeeds(a.t, text, func() error {
		drawn := a.out.String()
		i := strings.Index(escapes.ReplaceAllString(drawn[a.read:], ""), text)
		if i < 0 {
			return fmt.Errorf("it shows %q", drawn[max(a.read, len(drawn)-3000):])
		}
		a.read = len(drawn)
		return nil
	})
}

// TestUI: an admin browses, promotes with the plan, rolls back, follows logs, and keeps
// working over a restart of the server, in a real terminal.
func TestUI(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	d.deploy(dir, "--version", "v1")
	two := d.deploy(dir, "--version", "v2")
	var at atomic.Value
	at.Store(strings.TrimPrefix(d.note.API, "http://"))
	a := d.ui(forwarder(t, &at))
	a.sees("guestbook")
	a.Press("\r")
	a.sees("● ready")
	a.Press("/v2\rp")
	a.sees("v1 -> v2")
	a.sees("Type guestbook") // v2 has none of v1's data
	a.Press("guestbook\r")
	a.sees("guestbook/v2 is production; it was v1")
	d.expectProduction(two.ProdURL, "v2")
	a.Press("R")
	a.sees("Roll back guestbook to v1")
	a.sees("no common cut:")
	a.Press("y")
	a.sees("guestbook/v1 is production; it was v2")

	a.Press(":logs guestbook/v2\r")
	a.sees("following")
	d.get(two.PreviewURL + "/api?from=the-test")
	a.sees("GET /api")

	a.Press(":version guestbook/v2\r")
	a.sees("[timeline]")
	a.Resize(80, 24)
	a.sees("[timeline]")
	d.kill()
	a.sees("no answer for")
	if !d.start() {
		t.Fatal("the daemon ended")
	}
	at.Store(strings.TrimPrefix(d.note.API, "http://"))
	d.ok(dir, "versions", "pin", "v2")
	a.sees("pinned")
	a.Press("x")
	a.sees("Type v2")
	a.Press("v2\r")
	a.sees("guestbook/v2 destroyed")
	a.Press("q")
	svctest.Wait(t, "the end of the interface", a.exited)
	if code := a.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(a.out.String(), "\x1b[?1049l") {
		t.Error("the terminal is not restored")
	}
}
