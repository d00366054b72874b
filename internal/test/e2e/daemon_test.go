//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// daemon is one `svcctl serve` on a data directory of its own. It may be killed
// and started again.
type daemon struct {
	t    *testing.T
	home string // HOME and everything below it
	env  []string
	bin  string   // svcctl or breakable, and breakable once a setting needs it
	cli  string   // program of the commands; "" for svcctl
	wrap []string // program that runs bin, with its arguments; empty for none

	cmd    *exec.Cmd
	exited chan struct{}
	log    *svctest.Buffer
	note   config.Note
}

// newDaemon makes a home for a daemon; start starts it.
func newDaemon(t *testing.T, env ...string) *daemon {
	t.Helper()
	home, err := os.MkdirTemp("", "svc") //nolint:usetesting // short: unix sockets are made in it
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, home: home, bin: program(), log: &svctest.Buffer{}, env: append([]string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "SVC_WORKERD=" + workerd, "SVC_DATA_DIR=" + filepath.Join(home, "data"),
		"PLATFORM_PORT=0", "GATEWAY_PORT=0", "SVC_EMBEDDED_S3_ADDR=127.0.0.1:0", "SVC_LOG_LEVEL=info", "SVC_LOG_FORMAT=json",
		"SVC_SPARE_HOSTS=0", // tests count processes
		"SVC_INGRESS_BASE_DOMAIN=e2e.test", "NO_COLOR=1", "GORACE=halt_on_error=1 atexit_sleep_ms=0", "GOCOVERDIR=",
	}, env...)}
	t.Cleanup(func() {
		d.kill()
		d.noProcessesLeft()
		d.noRaces()
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", d.log.String())
		}
		os.RemoveAll(home)
	})
	return d
}

// start runs the daemon with extra environment and waits until it serves. It
// reports false when the process ended first.
func (d *daemon) start(extra ...string) bool {
	d.t.Helper()
	d.launch(extra...)
	return d.up()
}

// launch runs the daemon and does not wait.
func (d *daemon) launch(extra ...string) {
	d.t.Helper()
	_ = os.Remove(config.NotePath(d.dataDir()))
	env := slices.Concat(d.env, extra)
	if slices.ContainsFunc(env, onlyBreakable) {
		d.bin = breakable
	}
	command := append(slices.Clone(d.wrap), d.bin, "serve")
	d.cmd = exec.Command(command[0], command[1:]...)
	d.cmd.Env = env
	d.cmd.Dir = d.home
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.exited = make(chan struct{})
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func(cmd *exec.Cmd, exited chan struct{}) { _ = cmd.Wait(); close(exited) }(d.cmd, d.exited)
}

// up waits until the daemon serves, and reports false when it ended first.
func (d *daemon) up() bool {
	d.t.Helper()
	alive := true
	svctest.Succeeds(d.t, "the daemon to serve", func() error {
		select {
		case <-d.exited:
			alive = false
			return nil
		default:
		}
		note, err := config.ReadNote(d.dataDir())
		d.note = note
		return err
	})
	return alive
}

// onlyBreakable tells whether only the binary with failpoints takes a setting:
// one of them, or a grace too short for anybody but a test.
func onlyBreakable(env string) bool {
	return strings.HasPrefix(env, "SVC_FAILPOINT=") || strings.HasPrefix(env, "SVC_GC_GRACE=")
}

func started(t *testing.T, env ...string) *daemon {
	t.Helper()
	d := newDaemon(t, env...)
	if !d.start() {
		t.Fatalf("the daemon ended:\n%s", d.log.String())
	}
	return d
}

func (d *daemon) dataDir() string { return filepath.Join(d.home, "data") }

// kill ends the daemon as a power cut would: SIGKILL to the daemon alone.
func (d *daemon) kill() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Kill()
	<-d.exited
}

// died waits for a daemon that kills itself at a failpoint.
func (d *daemon) died() {
	d.t.Helper()
	svctest.Wait(d.t, "the daemon reaches its failpoint", d.exited)
	if status, ok := d.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		d.t.Fatalf("the daemon ended by %v, not by its failpoint:\n%s", d.cmd.ProcessState, d.log.String())
	}
}

// stop sends SIGTERM and returns the exit code.
func (d *daemon) stop() int {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	svctest.Wait(d.t, "the daemon stops", d.exited)
	return d.cmd.ProcessState.ExitCode()
}

// noProcessesLeft checks that nothing that ran for this daemon outlived it.
func (d *daemon) noProcessesLeft() {
	d.t.Helper()
	svctest.Succeeds(d.t, "every child process to end", func() error {
		left := d.processes()
		if len(left) > 0 {
			return fmt.Errorf("still running: %v", left)
		}
		return nil
	})
}

// noRaces reports what the race detector found in the hosts, whose words go to
// files. A daemon or a command that races ends with an exit code of its own.
func (d *daemon) noRaces() {
	d.t.Helper()
	logs, err := filepath.Glob(filepath.Join(d.dataDir(), "logs", "*", "*", "host.log"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, log := range logs {
		if text, err := os.ReadFile(log); err == nil && bytes.Contains(text, []byte("DATA RACE")) {
			d.t.Errorf("%s:\n%s", log, text)
		}
	}
}

// processes lists the processes that have this daemon's home in their
// environment or arguments.
func (d *daemon) processes() []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if bytes.Contains(args, []byte(d.home)) || bytes.Contains(env, []byte("HOME="+d.home+"\x00")) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return found
}

// client is the SDK with the daemon's own tokens.
func (d *daemon) client() *client.Client {
	d.t.Helper()
	c, err := client.New(d.note.API, client.Tokens{Deploy: d.note.DeployToken, Admin: d.note.AdminToken}, client.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// run executes the CLI in dir and gives what it printed and its exit code.
func (d *daemon) run(dir string, args ...string) (stdout, stderr string, code int) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), svctest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, cmp.Or(d.cli, breakable), args...)
	cmd.WaitDelay = time.Second // for children that hold the pipes
	cmd.Dir = dir
	cmd.Env = d.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// deploy deploys a directory with the CLI and waits until it is ready.
func (d *daemon) deploy(dir string, args ...string) api.Version {
	d.t.Helper()
	out, errs, code := d.run(dir, append([]string{"deploy", "--wait", "-o", "json"}, args...)...)
	if code != 0 {
		d.t.Fatalf("deploy: exit %d\n%s%s", code, errs, out)
	}
	var v api.Version
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		d.t.Fatalf("deploy printed %q: %v", out, err)
	}
	return v
}

// answer is what came back from the gateway.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

// get asks a URL of the service through the gateway, whatever its host resolves to.
func (d *daemon) get(url string) answer { return d.do(http.MethodGet, url, "", "") }

// served is get for a version that may not be back yet after its daemon was
// started again: a request waits for that for two seconds only.
func (d *daemon) served(url string) (a answer) {
	d.t.Helper()
	svctest.Eventually(d.t, url+" to serve", func() bool {
		a = d.get(url)
		code := a.Header.Get("Svc-Error")
		return code != "version_not_ready" && code != "runtime_restarting"
	})
	return a
}

// patiently repeats a request that waited for a start as long as requests do: on a busy machine
// a start takes longer.
func patiently(ask func() (answer, error)) (answer, error) {
	for end := time.Now().Add(svctest.Patience); ; {
		began := time.Now()
		a, err := ask()
		if err != nil || a.Status != http.StatusServiceUnavailable || time.Since(began) < gateway.DefaultHoldTimeout || began.After(end) {
			return a, err
		}
	}
}

func (d *daemon) do(method, url, contentType, body string) answer {
	d.t.Helper()
	a, err := d.try(d.t.Context(), method, url, contentType, body)
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

func (d *daemon) try(ctx context.Context, method, url, contentType, body string) (answer, error) {
	return fetch(ctx, d.http(), method, url, body, "Content-Type", contentType)
}

// fetch sends a request with these headers, empty ones left out, and reads the
// whole answer.
func fetch(ctx context.Context, c *http.Client, method, url, body string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for pair := range slices.Chunk(headers, 2) {
		if pair[1] != "" {
			req.Header.Set(pair[0], pair[1])
		}
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(data)}, err
}

// http is a client that takes every host to the gateway.
func (d *daemon) http() *http.Client {
	return &http.Client{Timeout: 2 * time.Minute, Transport: d.transport()}
}

func (d *daemon) transport() *http.Transport {
	gateway := strings.TrimPrefix(d.note.Gateway, "http://")
	var dialer net.Dialer
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", gateway)
		},
	}
}

// worker writes a worker directory: a wrangler config and files by name.
func worker(t *testing.T, config string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["wrangler.jsonc"] = config
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const helloConfig = `{ "name": "hello", "main": "index.js", "compatibility_date": "2026-11-01" }`

// hello is a worker that answers with text and its version.
func hello(t *testing.T, text string) string {
	t.Helper()
	return worker(t, helloConfig, map[string]string{
		"index.js": fmt.Sprintf("export default { fetch: (req, env) => new Response(%q + ' from ' + env.VERSION_ID) }", text),
	})
}
