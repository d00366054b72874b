//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// developer is one `svcctl dev` on a worker directory of its own.
type developer struct {
	running

	home string
	dir  string // worker directory
	env  []string

	address string
	client  *http.Client
}

// newDeveloper writes a worker directory.
func newDeveloper(t *testing.T, files map[string]string) *developer {
	t.Helper()
	home, err := os.MkdirTemp("", "dev") //nolint:usetesting // short: unix sockets are made in it
	if err != nil {
		t.Fatal(err)
	}
	d := &developer{running: running{t: t}, home: home, dir: filepath.Join(home, "w"), env: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "SVC_WORKERD=" + workerd, "NO_COLOR=1",
		"GORACE=halt_on_error=1 atexit_sleep_ms=0", "GOCOVERDIR=",
	}}
	d.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port) // *.localhost without DNS
	}}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for name, text := range files {
		d.write(name, text)
	}
	t.Cleanup(func() {
		if d.cmd != nil {
			_ = d.cmd.Process.Kill()
			<-d.exited
		}
		d.client.CloseIdleConnections()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(d.dir, ".svcctl/dev.log"))
			t.Logf("printed:\n%s\nlog:\n%s", d.out.String(), log)
		}
		svctest.Eventually(t, "the end of the processes of watch mode", func() bool { return !processIn(home) })
		os.RemoveAll(home)
	})
	return d
}

// processIn reports whether a process of a home is alive.
func processIn(home string) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range dirs {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "HOME="+home) {
			return true
		}
	}
	return false
}

// write replaces a file in one step: on a busy machine a save in two steps can be two saves.
func (d *developer) write(name, text string) {
	d.t.Helper()
	path, draft := filepath.Join(d.dir, filepath.FromSlash(name)), filepath.Join(d.home, "draft")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	err := os.WriteFile(draft, []byte(text), 0o600)
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// start starts watch mode and waits until it has an address.
func (d *developer) start(args ...string) {
	d.t.Helper()
	d.cmd = exec.Command(program(), append([]string{"dev", "--port", "0"}, args...)...)
	d.cmd.Dir, d.cmd.Env = d.dir, d.env
	d.begin()
	d.address = d.await(`dev   (http://localhost:\d+)`)[1]
}

// get asks the stable address.
func (d *developer) get(path string, headers ...string) (status int, body string) {
	d.t.Helper()
	status, body, err := d.try(http.MethodGet, path, "", headers...)
	if err != nil {
		d.t.Fatal(err)
	}
	return status, body
}

func (d *developer) try(method, path, body string, headers ...string) (int, string, error) {
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.address+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func (d *developer) expect(path, want string) {
	d.t.Helper()
	if status, body := d.get(path); status != http.StatusOK || body != want {
		d.t.Errorf("%s: %d %q, want %q", path, status, body, want)
	}
}

// saves reads the list of saves.
func (d *developer) saves(project string) (versions []string) {
	d.t.Helper()
	var list struct {
		Saves []struct{ Version string }
	}
	data, err := os.ReadFile(filepath.Join(d.dir, ".svcctl", "saves-"+project+".json"))
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	for _, s := range list.Saves {
		versions = append(versions, s.Version)
	}
	return versions
}

// run runs a command in the worker directory to its end.
func (d *developer) run(args ...string) (output string, code int) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), breakable, args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
