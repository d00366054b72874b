package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/host/isolate"
)

// isolates reports whether workerds of this machine have uids of their own. Other machines look for
// themselves.
func (d *Daemon) isolates() bool { return d.cfg.Isolates && !d.cfg.Hosts.Remote }

// isolateDirs makes the directory of sockets through which the uids of workerds may pass: the data
// directory is closed to them. For people, it has a link where it would be otherwise.
func (d *Daemon) isolateDirs() error {
	if !d.isolates() {
		return nil
	}
	if err := isolate.Check(isolate.Base, d.cfg.Isolation()); err != nil {
		return err
	}
	if err := os.Chmod(d.cfg.DataDir, 0o700); err != nil { //nolint:gosec // a directory; it may be older than the setting
		return fmt.Errorf("closing the data directory to other users: %w", err)
	}
	dir, remove, err := isolate.MakeDir(isolate.Base)
	if err != nil {
		return err
	}
	d.stops.Push("directory of sockets", func(context.Context) error { return remove() })
	d.dirs.pass = dir
	return os.Symlink(dir, filepath.Join(d.dirs.run, "v"))
}

// tryIsolation runs workerd once as another user, before the first version does.
func (d *Daemon) tryIsolation(ctx context.Context) error {
	if !d.isolates() {
		return nil
	}
	return isolate.Try(ctx, isolate.Base, d.cfg.Isolation(), d.workerd)
}
