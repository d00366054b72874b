package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
)

// copyLimit is the age of a change without a copy at which the deep health check fails.
const copyLimit = time.Minute

// copiedFiles are the files of the data directory that are stored beside the registry. Those
// of machines that join exist only where machines do: with them a restored server is the one
// that they know.
func copiedFiles() []string { return []string{"secrets.json", "host.json", authorityFile, tokenFile} }

// readCopied reads the copiedFiles that exist.
func (d *dataDir) readCopied() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range copiedFiles() {
		content, err := os.ReadFile(d.sub(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		files[name] = content
	}
	return files, nil
}

// startCopies starts to copy the registry to an external object store. The embedded one
// is lost with the registry.
func (d *Daemon) startCopies(ctx context.Context) error {
	if d.objects.embedded != nil {
		return nil
	}
	i, err := Identify(d.cfg)
	if err != nil {
		return err
	}
	d.copies = backup.Start(ctx, backup.Config{
		Registry: d.registry, Bucket: d.objects.artifacts, Node: i.Node, Key: i.Key, Files: d.dirs.data.readCopied,
		Window: d.cfg.SyncWindow, Logger: d.logger, Writer: d.leader.Writer(),
		Taken: func() { d.fail("copies of the registry", backup.ErrTaken) },
	})
	d.stops.Push("copies of the registry", d.copies.Stop)
	return nil
}

// Identity is what copies of a registry need besides it.
type Identity struct {
	Node  string
	Key   svc.Secret
	Files map[string][]byte
}

// Identify reads the identity of the data directory in cfg, in which a daemon has run.
func Identify(cfg *config.Daemon) (Identity, error) {
	dir := &dataDir{path: cfg.DataDir}
	var s secrets
	err := readPrivate(dir.sub("secrets.json"), &s)
	if errors.Is(err, os.ErrNotExist) {
		return Identity{}, svc.Errorf(svc.NotFound, svc.CodeDataDirEmpty, "no server has run in the data directory %s", cfg.DataDir).
			WithHint("set SVC_DATA_DIR to the server's data directory, and run the command as its user")
	}
	if err != nil {
		return Identity{}, fmt.Errorf("read secrets.json: %w", err)
	}
	i := Identity{Key: cmp.Or(cfg.RecoveryKey, svc.Secret(s.RecoveryKey))}
	if i.Node, err = dir.nodeID(); err != nil {
		return i, err
	}
	i.Files, err = dir.readCopied()
	return i, err
}

// Rebuild writes a copy of a registry, and the files beside it, into the data directory of
// cfg, which must have no registry. A daemon that starts there continues where the copy
// ended.
func Rebuild(cfg *config.Daemon, state *backup.State) error {
	dir, err := openDataDir(cfg.DataDir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.close() }() // it unlocks a file
	if _, err := os.Stat(cfg.RegistryDB); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, svc.Errorf(svc.Conflict, svc.CodeDataDirInUse, "%s exists: a restore does not replace a registry", cfg.RegistryDB).
			WithHint("set an empty SVC_DATA_DIR, or move the file away with its -wal and -shm files"))
	}
	for _, name := range copiedFiles() {
		if content, ok := state.Files[name]; ok {
			if err := atomicfile.WriteFile(dir.sub(name), content, 0o600); err != nil {
				return fmt.Errorf("restore %s: %w", name, err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(cfg.RegistryDB), 0o700); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(cfg.RegistryDB, state.Database, 0o600); err != nil { // last: it completes the restore
		return fmt.Errorf("restore the registry: %w", err)
	}
	return dir.giveToOwner(append(copiedFiles(), "lock", filepath.Base(cfg.RegistryDB))...)
}

// syncLimit is how long the API waits for the copy of a change with SVC_REGISTRY_SYNC=1.
const syncLimit = 15 * time.Second

// settle returns what waits for the copy of the registry before a change is answered; nil if
// nothing does.
func (d *Daemon) settle() func(context.Context) error {
	if !d.cfg.RegistrySync || d.copies == nil {
		return nil
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), syncLimit, errCopyLate)
		defer cancel()
		return d.copies.Sync(ctx)
	}
}

var errCopyLate = fmt.Errorf("the object store has not taken it within %s", syncLimit)
