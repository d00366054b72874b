package dev

import (
	"context"
	"log/slog"

	"github.com/svcctl/svcctl/internal/client/front"
)

// Proxy serves one version at a port of this machine until ctx ends. ready is called
// with the address; port 0 chooses a free one.
func Proxy(ctx context.Context, t front.Target, port int, logger *slog.Logger, ready func(address string)) error {
	f := front.New(front.Config{Logger: logger})
	f.Switch(t)
	f.Release()
	a, err := listen(ctx, portFlag{flag: "--port", port: port}, f, logger)
	if err != nil {
		return err
	}
	ready(a.url())
	<-ctx.Done()
	f.Close()
	a.close()
	return nil
}
