package workerd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// process is a workerd that serves the socket "http".
type process struct {
	client *http.Client
	cmd    *exec.Cmd
	log    chan workerd.LogLine // closed when stdout ends
	stderr *bytes.Buffer        // readable once log is closed and the process has ended
}

// config is a config with one worker of the given modules.
func config(dir string, w *workerd.Worker, more ...workerd.Service) workerd.Config {
	return workerd.Config{
		Services: append([]workerd.Service{{Name: "user", Worker: w}}, more...),
		Sockets: []workerd.Socket{{
			Name: "http", Address: "unix:" + filepath.Join(dir, "s"), Service: workerd.ServiceRef{Name: "user"},
		}},
	}
}

func script(source string) *workerd.Worker {
	return &workerd.Worker{
		Modules:           []workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: source}},
		CompatibilityDate: "2026-11-01",
	}
}

// start runs workerd and waits until it listens; an error means that it ended.
func start(t *testing.T, dir string, c workerd.Config) (*process, error) {
	t.Helper()
	text, err := workerd.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.capnp")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	control, controlW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	args := workerd.Command(workerdtest.Binary(t), workerd.Options{Config: path, ControlFD: 3})
	p := &process{cmd: exec.CommandContext(t.Context(), args[0], args[1:]...), stderr: &bytes.Buffer{}, log: make(chan workerd.LogLine, 1000)}
	p.cmd.ExtraFiles, p.cmd.Stderr, p.cmd.Env = []*os.File{controlW}, p.stderr, []string{}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	controlW.Close()
	go func() {
		defer close(p.log)
		if err := workerd.ReadLog(stdout, func(l workerd.LogLine) { p.log <- l }); err != nil {
			t.Errorf("reading the log: %v", err)
		}
	}()
	stop := sync.OnceFunc(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		for range p.log {
		}
		_ = p.cmd.Wait()
	})
	t.Cleanup(stop)
	if _, err := workerd.AwaitListening(control, "http"); err != nil {
		var stdout []string
		for l := range p.log {
			stdout = append(stdout, l.Message)
		}
		_ = p.cmd.Wait() // it ends by itself, with 1
		p.stderr.WriteString(strings.Join(stdout, "\n"))
		return p, err
	}
	p.client = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // a request on a kept connection may be sent twice
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "s"))
		},
	}}
	return p, nil
}

func mustStart(t *testing.T, c func(dir string) workerd.Config) *process {
	t.Helper()
	dir := svctest.ShortDir(t)
	p, err := start(t, dir, c(dir))
	if err != nil {
		t.Fatalf("start: %v\n%s", err, p.stderr)
	}
	return p
}

func (p *process) get(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://worker.example"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.client.Do(req)
	if errors.Is(err, io.EOF) {
		return "" // a stream that failed before its first byte
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return string(body)
}

// next is the next log line.
func (p *process) next(t *testing.T) workerd.LogLine {
	t.Helper()
	l := svctest.Wait(t, "a log line", p.log)
	if l == (workerd.LogLine{}) {
		t.Fatal("the log ended")
	}
	return l
}
