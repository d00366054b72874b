//go:build terminal && linux

package devterminal

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// person is a shell in a terminal, in a worker directory of its own.
type person struct {
	t       *testing.T
	home    string
	dir     string // of the worker
	socket  string // of the tmux server
	address string // of watch mode
}

// newPerson opens a terminal of 100 columns and 30 lines.
func newPerson(t *testing.T) *person {
	t.Helper()
	home, err := os.MkdirTemp("", "tm") //nolint:usetesting // short: unix sockets are made in it
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, home: home, dir: filepath.Join(home, "w"), socket: filepath.Join(home, "tmux")}
	p.write("wrangler.jsonc", `{ "name": "counter", "main": "src/index.js", "compatibility_date": "2026-11-01",
  "kv_namespaces": [{ "binding": "KV", "id": "x" }] }`)
	p.write("src/index.js", counter("one"))
	p.write("opened.sh", "#!/bin/sh\necho \"opened $1\" > "+filepath.Join(home, "opened")+"\n")
	if err := os.Chmod(filepath.Join(p.dir, "opened.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", p.dir, strings.Join([]string{
		"exec env -i TERM=screen-256color PS1='$ '", "PATH=" + filepath.Dir(svcctl) + ":" + os.Getenv("PATH"), "HOME=" + home,
		"SVC_WORKERD=" + workerd, "BROWSER=" + filepath.Join(p.dir, "opened.sh"), "bash --norc --noprofile",
	}, " "))
	t.Cleanup(p.close)
	p.sees(`^\$ *$`)
	return p
}

// counter is a worker that names itself and counts its requests.
func counter(name string) string {
	return `export default { async fetch(request, env) {
  const n = 1 + Number(await env.KV.get("n"));
  await env.KV.put("n", String(n));
  return new Response("` + name + ` " + n);
} };
`
}

func (p *person) close() {
	if p.t.Failed() {
		log, _ := os.ReadFile(filepath.Join(p.dir, ".svcctl/dev.log"))
		p.t.Logf("the terminal shows:\n%s\nlog:\n%s", p.screen(), log)
	}
	_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run()
	svctest.Eventually(p.t, "the end of all processes", func() bool { return p.processes() == 0 })
	os.RemoveAll(p.home)
}

// processes counts those with this home, the shell included.
func (p *person) processes() (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "HOME="+p.home) {
			n++
		}
	}
	return n
}

func (p *person) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// screen is what the terminal shows, and the lines that it has scrolled away.
func (p *person) screen() string { return p.tmux("capture-pane", "-p", "-J", "-S", "-1000") }

// sees waits until the terminal shows a pattern, and returns its match.
func (p *person) sees(pattern string) (match []string) {
	p.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	svctest.Succeeds(p.t, pattern, func() error {
		shown := strings.TrimRight(p.screen(), "\n")
		if match = want.FindStringSubmatch(shown); match == nil {
			return fmt.Errorf("the terminal shows:\n%s", shown)
		}
		return nil
	})
	return match
}

// types sends text as keys; presses sends one key by its name.
func (p *person) types(text string)  { p.t.Helper(); p.tmux("send-keys", "-l", text) }
func (p *person) presses(key string) { p.t.Helper(); p.tmux("send-keys", key) }

// enters types a line.
func (p *person) enters(line string) {
	p.t.Helper()
	p.types(line)
	p.presses("Enter")
}

func (p *person) resizes(columns, lines int) {
	p.t.Helper()
	p.tmux("resize-window", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(lines))
}

// clears removes all lines, so that what follows is new.
func (p *person) clears() {
	p.t.Helper()
	p.tmux("send-keys", "-R")
	p.tmux("clear-history")
}

// starts starts watch mode and waits for the first save.
func (p *person) starts(args ...string) {
	p.t.Helper()
	p.enters("svcctl dev --port 0 " + strings.Join(args, " "))
	p.address = p.sees(`dev   (http://localhost:\d+)`)[1]
	p.sees(`save 1 .*ready`)
}

// answers presses a key until the terminal shows a pattern: a program learns of a new size after a
// moment.
func (p *person) answers(key, pattern string) {
	p.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	svctest.Succeeds(p.t, pattern, func() error {
		p.types(key)
		if shown := p.screen(); !want.MatchString(shown) {
			return fmt.Errorf("the terminal shows:\n%s", shown)
		}
		return nil
	})
}

// write replaces a file in one step, as most editors do.
func (p *person) write(name, text string) {
	p.t.Helper()
	path, draft := filepath.Join(p.dir, name), filepath.Join(p.home, "draft")
	err := os.MkdirAll(filepath.Dir(path), 0o750)
	if err == nil {
		err = os.WriteFile(draft, []byte(text), 0o600)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// serves checks the answer of the worker.
func (p *person) serves(want string) {
	p.t.Helper()
	if body := p.gets(); body != want {
		p.t.Errorf("it serves %q, want %q", body, want)
	}
}

// gets returns the answer of the worker.
func (p *person) gets() string {
	p.t.Helper()
	_, port, _ := strings.Cut(strings.TrimPrefix(p.address, "http://"), ":")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}}}
	resp, err := client.Get(p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Error(err)
	}
	return string(body)
}

// back checks that the shell has its terminal again: lines are edited, typed text is shown.
func (p *person) back(code int) {
	p.t.Helper()
	p.sees(`^\$ *$`)
	p.clears()
	p.enters(fmt.Sprintf("echo code $? want %d; stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo -e isig | tr '\\n' ' '; tput cnorm | cat -v", code))
	p.sees(fmt.Sprintf(`^code %d want %[1]d$`, code))
	p.sees(`isig icanon echo`)
	if shown := p.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{keypad_flag} #{mouse_any_flag}"); strings.TrimSpace(shown) != "1 0 0 0" {
		p.t.Errorf("cursor, second screen, keypad, mouse: %s", shown)
	}
}
