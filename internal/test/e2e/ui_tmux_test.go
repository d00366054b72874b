//go:build e2e && tmux

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// pane is a shell in a window of tmux, which draws what a person would see.
type pane struct {
	t      *testing.T
	socket string
}

// inTmux starts tmux with a shell that has the variables.
func inTmux(t *testing.T, dir string, env []string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatalf("this test drives tmux, which is not installed: apt-get install tmux (%v)", err)
	}
	short, err := os.MkdirTemp("", "tmux") // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, socket: filepath.Join(short, "s")}
	cmd := p.command("-u", "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-s", "ui", "-c", dir, "sh")
	cmd.Env = append(env, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		_ = p.command("kill-server").Run() // the shell may have ended it
		_ = os.RemoveAll(short)
	})
	return p
}

func (p *pane) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
}

// tmux runs a command of tmux and returns what it prints.
func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// types presses the keys of a text.
func (p *pane) types(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-t", "ui", "-l", "--", text)
}

// press presses keys by their names.
func (p *pane) press(names ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys", "-t", "ui"}, names...)...)
}

// enters types a line.
func (p *pane) enters(line string) {
	p.t.Helper()
	p.types(line)
	p.press("Enter")
}

func (p *pane) screen() string {
	p.t.Helper()
	return p.tmux("capture-pane", "-p", "-t", "ui")
}

// shows waits until the screen has all texts.
func (p *pane) shows(texts ...string) {
	p.t.Helper()
	svctest.Succeeds(p.t, strings.Join(texts, ", "), func() error {
		screen := p.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return fmt.Errorf("no %q on the screen:\n%s", text, screen)
			}
		}
		return nil
	})
}

// hides waits until the screen does not have a text.
func (p *pane) hides(text string) {
	p.t.Helper()
	svctest.Succeeds(p.t, "a screen without "+text, func() error {
		if screen := p.screen(); strings.Contains(screen, text) {
			return fmt.Errorf("the screen:\n%s", screen)
		}
		return nil
	})
}

// resize gives the window another size, and waits until the interface fills it.
func (p *pane) resize(w, h int) {
	p.t.Helper()
	p.tmux("resize-window", "-t", "ui", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h))
	p.shows(strings.Repeat("─", w)) // the line below the head
	lines := strings.Split(strings.TrimRight(p.screen(), "\n"), "\n")
	if len(lines) > h {
		p.t.Errorf("%d lines in a window of %d:\n%s", len(lines), h, p.screen())
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > w {
			p.t.Errorf("a line of %d columns in a window of %d: %q", n, w, line)
		}
	}
}

// TestUIInTmux: an admin does a day's work in a real terminal, over a restart of the server,
// and gets the terminal back as it was. `make test-ui` runs it; it needs tmux.
func TestUIInTmux(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	one := d.deploy(dir, "--version", "v1")
	two := d.deploy(dir, "--version", "v2")
	d.post(two.PreviewURL+"/entries", `{"name":"Ada","message":"from tmux"}`)
	var at atomic.Value
	at.Store(strings.TrimPrefix(d.note.API, "http://"))
	p := inTmux(t, t.TempDir(), append(d.env, "SVCCTL_SERVER="+forwarder(t, &at), "SVCCTL_ADMIN_TOKEN="+d.note.AdminToken))
	p.enters(svcctl + " ui; echo code=$?")

	// Browse to the project and a version, and back.
	p.shows("pulse", "guestbook", "registry")
	p.press("Enter")
	p.shows("guestbook › versions", "● ready", "v1", "v2")
	p.press("Enter")
	p.shows("[timeline]", "total")
	p.press("Escape")
	p.shows("guestbook › versions")

	// Filter, promote with the plan, roll back.
	p.enters("/v2")
	p.shows(">v2")
	p.hides(" v1 ")
	p.press("p")
	p.shows("v1 -> v2", "Requests wait while v1", "Type guestbook")
	p.enters("guestbook")
	p.shows("guestbook/v2 is production; it was v1")
	d.expectProduction(two.ProdURL, "v2")
	p.press("R")
	p.shows("Roll back guestbook to v1", "v2 -> v1", "no common cut:")
	p.press("y")
	p.shows("guestbook/v1 is production; it was v2")
	d.expectProduction(one.ProdURL, "v1")

	// Follow a log.
	p.enters(":logs guestbook/v2")
	p.shows("following")
	d.get(two.PreviewURL + "/api?from=tmux")
	p.shows("GET /api")

	// SQL in the data browser: it reads, and changes only with "!" and after a question.
	p.enters(":data guestbook/v2")
	p.shows("DB", "database", "VISITS")
	p.press("Q")
	p.shows("SQL on DB")
	p.enters("SELECT name, message FROM entries")
	p.shows("Ada", "from tmux")
	p.press("Q")
	p.shows("SQL on DB")
	p.enters("!UPDATE entries SET message = 'changed'")
	p.shows("Change the data of guestbook/v2?")
	p.press("y")
	p.shows("1 row changed")

	// Other sizes of the window.
	p.enters(":projects")
	p.shows("projects", "PRODUCTION")
	p.resize(80, 24)
	p.hides("REPOSITORY")
	p.resize(200, 50)
	p.shows("REPOSITORY")
	p.resize(100, 30)

	// The server is killed, and comes back.
	d.kill()
	p.shows("no answer for")
	if !d.start() {
		t.Fatal("the daemon ended")
	}
	at.Store(strings.TrimPrefix(d.note.API, "http://"))
	p.hides("no answer for")

	// Destroy with the id.
	p.enters(":version guestbook/v2")
	p.shows("[timeline]")
	p.press("x")
	p.shows("Type v2")
	p.enters("v1")
	p.shows("That is not v2.")
	p.press("Escape")
	p.shows("nothing was changed")
	p.press("x")
	p.shows("Type v2")
	p.enters("v2")
	p.shows("guestbook/v2 destroyed")
	svctest.Succeeds(t, "the version is destroyed", func() error {
		v, err := d.client().Version(t.Context(), "guestbook", "v2")
		if err == nil && v.Status != api.VersionStatusDestroyed {
			err = fmt.Errorf("status %s", v.Status)
		}
		return err
	})

	// Quit: the shell has its screen, cursor, mouse and line editing back.
	p.press("q")
	p.shows("code=0")
	p.hides("guestbook ›")
	if got := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "ui", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}")); got != "0 1 0" {
		t.Errorf("alternate screen, cursor and mouse: %s, want 0 1 0", got)
	}
	p.enters("stty -a | tr -s ' ;' '\\n' | grep -xE -- '-?(icanon|echo|isig|opost)' | tr '\\n' ,")
	p.shows("opost,isig,icanon,echo,")
}

// post sends a document as JSON.
func (d *daemon) post(url, body string) {
	d.t.Helper()
	if a := d.do(http.MethodPost, url, "", body); a.Status != http.StatusCreated {
		d.t.Fatalf("%s: %d %s", url, a.Status, a.Body)
	}
}
