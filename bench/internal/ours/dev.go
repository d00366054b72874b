package ours

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// Dev is a running watch mode.
type Dev struct {
	Target load.Target
	PID    int
	Stop   func()
}

// Dev starts watch mode in a worker directory and waits for its first 200.
func (p *Program) Dev(ctx context.Context, worker string) (*Dev, error) {
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	process, err := proc.Start(ctx, proc.Spec{
		Args: []string{p.Path, "dev", "--port", fmt.Sprint(port)}, Dir: worker, Log: worker + ".log",
		Env: []string{"SVC_WORKERD=" + p.Workerd, "SVCCTL_SERVER=", "HOME=" + p.Scratch},
	})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	alive, release := process.Watch(limited)
	defer release()
	target := load.Target{Network: "tcp", Address: fmt.Sprintf("127.0.0.1:%d", port), Host: "localhost"}
	if err := load.Until200(alive, target, "/"); err != nil {
		process.Stop()
		return nil, fmt.Errorf("svcctl dev: %w", err)
	}
	return &Dev{target, process.PID, process.Stop}, nil
}
