package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// startLimit is how long a peer may take to its first 200.
const startLimit = 30 * time.Second

// Peers knows where the peers are installed and where their files may be kept.
type Peers struct {
	Root    string // of the bench module
	Scratch string // for configs, logs and state
	Workerd string // the binary that all of them run
	Node    string

	made int
}

// Running is a peer that serves.
type Running struct {
	Target load.Target
	Socket load.Target // of a bare workerd, the same worker at a unix socket
	PID    int
	Stop   func()
	Took   time.Duration // from the start of the process to its first 200
}

// dir makes a directory for one start of a peer.
func (p *Peers) dir(name string) (string, error) {
	p.made++
	dir := filepath.Join(p.Scratch, fmt.Sprintf("%s-%d", name, p.made))
	return dir, os.MkdirAll(dir, 0o700)
}

// fixture is the directory of a worker.
func (p *Peers) fixture(name string) string { return filepath.Join(p.Root, "fixtures", name) }

// run starts a process that is to listen at a port, and waits for its first 200.
func run(ctx context.Context, s proc.Spec, host string, port int) (*Running, error) {
	s.Log = filepath.Join(s.Dir, "log.txt")
	began := time.Now()
	process, err := proc.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	alive, release := process.Watch(limited)
	defer release()
	target := load.Target{Network: "tcp", Address: fmt.Sprintf("127.0.0.1:%d", port), Host: host}
	if err := load.Until200(alive, target, "/"); err != nil {
		process.Stop()
		return nil, fmt.Errorf("%s: %w", s.Args[0], err)
	}
	return &Running{Target: target, PID: process.PID, Stop: process.Stop, Took: time.Since(began)}, nil
}

func write(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) //nolint:gosec // a directory of ours
}
