package evaluate

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// config is workerd's config: one worker without anything, on a socket.
func config(socket string) string {
	return fmt.Sprintf(`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "config", worker = (
      modules = [(name = "evaluator.js", esModule = embed "evaluator.js"), (name = "config.js", esModule = embed "config.js")],
      compatibilityDate = "2026-11-01", compatibilityFlags = ["nodejs_compat"], globalOutbound = "nothing")),
    (name = "nothing", network = (allow = [], deny = []))],
  sockets = [(name = "http", address = "unix:%s", service = "config", http = ())],
  v8Flags = ["--max-old-space-size=%d"]);
`, socket, heapMB)
}

// process is a workerd.
type process struct {
	cmd     *exec.Cmd
	control *os.File
	ended   chan struct{}

	mu   sync.Mutex
	text strings.Builder // what it printed
}

// Write keeps the end of what the process prints.
func (p *process) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const most = 64 << 10
	if p.text.Len() < most {
		p.text.Write(data)
	}
	return len(data), nil
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// start starts workerd. The caller stops it.
func start(ctx context.Context, engine, file string) (*process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	p := &process{cmd: exec.CommandContext(ctx, engine, "serve", "--control-fd=3", file), control: read, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.ExtraFiles = []string{}, []*os.File{write}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		_ = read.Close()
		return nil, err
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	return p, nil
}

// listens waits until the process listens.
func (p *process) listens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	heard := make(chan bool, 1)
	go func() { heard <- bufio.NewScanner(p.control).Scan() }()
	select {
	case ok := <-heard:
		if !ok {
			<-p.ended // it printed why
			return fmt.Errorf("workerd ended: %s", lastLine(p.output()))
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop ends the process.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	<-p.ended
	_ = p.control.Close()
}

func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}
