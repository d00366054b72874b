package s3server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// Alone configures RunAlone.
type Alone struct {
	Dir       string // for data alone
	Address   string // host:port; port 0 chooses one
	Region    string // "us-east-1" when empty
	AccessKey string
	SecretKey svc.Secret

	Listening func(net.Addr) // called once, when Address accepts connections
}

// RunAlone serves an object store without a daemon until ctx ends, and returns why it stopped. It
// changes the working directory; a process has one at most.
func RunAlone(ctx context.Context, a Alone) (err error) {
	if a.AccessKey == "" || a.SecretKey == "" {
		return errors.New("the object store has no keys")
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return err
	}
	run, err := os.MkdirTemp("", "svc-store-")
	if err != nil {
		return fmt.Errorf("create directory for the socket: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(run)) }()
	return serve(ctx, setup{
		Dir: dir, Socket: filepath.Join(run, "s3.sock"), Address: a.Address, Region: cmp.Or(a.Region, "us-east-1"),
		AccessKey: a.AccessKey, SecretKey: a.SecretKey.Reveal(), Connections: DefaultConnections, Timeout: DefaultTimeout, listening: a.Listening,
	})
}
