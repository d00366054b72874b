package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/lib/systemd"
)

// replaceDrain is the time for requests in flight to end before a replacement: new
// connections wait in the kernel's queue meanwhile.
const replaceDrain = 5 * time.Second

// Replace stops the daemon like Stop, but keeps its listening sockets open for the next
// program, which must take them soon: clients wait.
func (d *Daemon) Replace(ctx context.Context) (*systemd.Kept, error) {
	kept, err := systemd.Keep(d.listeners.named())
	if err != nil {
		return nil, err
	}
	d.leaving = true
	return kept, d.Stop(ctx)
}

func (d *Daemon) stopGateway(ctx context.Context) error {
	if !d.leaving {
		return d.gateway.Shutdown(ctx)
	}
	soon, cancel := context.WithTimeout(ctx, replaceDrain)
	defer cancel()
	err := d.gateway.Shutdown(soon)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		d.logger.WarnContext(ctx, "replacement: requests in flight were cut off", "after", replaceDrain)
		return nil
	}
	return err
}
