package peer

import (
	"context"
	"errors"
	"net"
	"os"
)

// Listen listens at a Unix socket for a process that may have another uid than this one. A process
// that may enter the directory of path may connect: the directory must be private, and [Only] looks at which one does.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // as above
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
