package bindingtest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/door"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// startTimeout is how long workerd may take to listen, on a busy machine.
const startTimeout = 30 * time.Second

// Worker is a worker that answers HTTP requests, and events if Start started it.
type Worker struct {
	client *http.Client
	base   string
	events *door.Door // nil for an oracle
	kill   func()
}

// Dir is a new directory whose paths are short enough for sockets. It goes away
// with the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "b") //nolint:usetesting // a test's own would be too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// process is a running workerd.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer  // whole once exited is closed
	exited         chan struct{} // closed once it is gone and its output read
}

// run starts workerd with args, whose descriptor 3 reports, and waits until sockets
// listen. It gives their ports. What it prints goes through line. It is killed when
// the test ends.
func run(t testing.TB, dir string, args []string, line func(workerd.LogLine), sockets ...string) (*process, map[string]int) {
	t.Helper()
	control, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = control.Close() }()
	p := &process{exited: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), args[0], args[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.ExtraFiles = dir, []string{"TMPDIR=" + dir}, []*os.File{report}
	err = p.start(line)
	_ = report.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("workerd said:\n%s", p.output())
		}
	})
	_ = control.SetReadDeadline(time.Now().Add(startTimeout))
	ports, err := workerd.AwaitListening(control, sockets...)
	if err != nil {
		p.kill()
		t.Fatalf("workerd does not listen: %v\n%s", err, p.output())
	}
	return p, ports
}

// start starts the process and reads what it prints.
func (p *process) start(line func(workerd.LogLine)) error {
	printed, out := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = out, &p.stderr
	if err := p.cmd.Start(); err != nil {
		return err
	}
	var reading sync.WaitGroup
	reading.Go(func() { _ = workerd.ReadLog(io.TeeReader(printed, &p.stdout), line) })
	go func() {
		_ = p.cmd.Wait()
		_ = out.Close()
		reading.Wait()
		close(p.exited)
	}()
	return nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// output is the last of what a process printed that is gone.
func (p *process) output() string {
	return tail(p.stdout.String(), 4000) + tail(p.stderr.String(), 4000)
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// unixClient talks to the socket at path whatever the URL.
func unixClient(path string) *http.Client {
	return &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
}

// Post sends body to path and gives the answer, which must be a 200.
func (w *Worker) Post(t testing.TB, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s\n%s", path, resp.Status, tail(string(text), 2000))
	}
	return string(text)
}

// Open begins a request and gives the body of its answer, which must be a 200. The caller
// closes it, early or not.
func (w *Worker) Open(t testing.TB, path string) io.ReadCloser {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %v, %v", path, resp, err)
	}
	return resp.Body
}

// Stream makes a request with a body of size bytes, and copies that of the
// answer, which must be a 200.
func (w *Worker) Stream(t testing.TB, method, path string, body io.Reader, size int64, to io.Writer) http.Header { //nolint:revive // a test and what a request has
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.base+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = size
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(to, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %v", method, path, resp.Status, err)
	}
	return resp.Header
}

func writeFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
