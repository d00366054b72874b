package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
)

// Add sets what the commands of this package do.
func Add(r *whole.Runs) {
	r.Backup, r.Restore, r.Verify, r.Key, r.Token = backUp, restore, verify, printKey, hostToken
}

// settings reads the server's settings: for root, without flags, those of the service.
func settings(k *kit.Kit, p whole.Place) (*config.Daemon, error) {
	src := config.Source{Environ: k.Environ, File: p.File}
	switch {
	case p.DataDir != "":
		src.Flags = map[string]string{"data-dir": p.DataDir}
	case p.File == "":
		var err error
		if src, err = config.MachineSource(k.Environ); err != nil {
			return nil, err
		}
	}
	cfg, err := config.LoadDaemon(src)
	if err != nil {
		return nil, kit.Usagef("%v", err)
	}
	return cfg, nil
}

// snapshot reads the registry of a server, which may be running.
func snapshot(ctx context.Context, path string) ([]byte, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, svc.Errorf(svc.NotFound, svc.CodeDataDirEmpty, "no registry at %s", path).
			WithHint("set --data-dir to the data directory of the server, and run the command as its user").Because(err)
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Readers: 1})
	if err != nil {
		return nil, err
	}
	data, err := db.Snapshot(ctx)
	return data, errors.Join(err, db.Close())
}

// fileSuffix is the end of the name of a backup that is one file.
const fileSuffix = ".backup"

// open opens a file, a directory, or s3://bucket/prefix in the object store of the settings,
// to restore from.
func open(ctx context.Context, cfg *config.Daemon, where string) (objstore.Bucket, error) {
	if info, err := os.Stat(where); err == nil && info.Mode().IsRegular() {
		return backup.ReadFile(ctx, where)
	}
	return openChain(ctx, cfg, where)
}

// openChain opens a directory, or s3://bucket/prefix in the object store of the settings.
func openChain(ctx context.Context, cfg *config.Daemon, where string) (objstore.Bucket, error) {
	rest, remote := strings.CutPrefix(where, "s3://")
	if !remote {
		if err := os.MkdirAll(where, 0o700); err != nil {
			return nil, err
		}
		return dirstore.Open(where)
	}
	name, prefix, _ := strings.Cut(rest, "/")
	if name == "" {
		return nil, kit.Usagef("%q: want s3://BUCKET or s3://BUCKET/PREFIX", where)
	}
	store, err := remoteStore(cfg)
	if err != nil {
		return nil, err
	}
	if err := store.EnsureBucket(ctx, name); err != nil {
		return nil, err
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return store.Bucket(name, prefix), nil
}

func remoteStore(cfg *config.Daemon) (*s3.Store, error) {
	if cfg.S3.Endpoint == "" {
		return nil, kit.Usagef("an s3:// address needs S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
	}
	return s3.New(s3.Config{Endpoint: cfg.S3.Endpoint, Region: cfg.S3.Region, AccessKey: cfg.S3.AccessKey, SecretKey: cfg.S3.SecretKey})
}

func printKey(k *kit.Kit, p whole.Place) error {
	cfg, err := settings(k, p)
	if err != nil {
		return err
	}
	i, err := daemon.Identify(cfg)
	if err != nil {
		return err
	}
	return k.Print(map[string]string{"node": i.Node, "recovery_key": i.Key.Reveal()}, func() { k.Printf("%s", i.Key.Reveal()) })
}

// one returns the node to restore.
func one(nodes []string, asked string) (string, error) {
	switch {
	case asked != "":
		return asked, nil
	case len(nodes) == 0:
		return "", svc.Errorf(svc.NotFound, svc.CodeCopyMissing, "no copy of a registry is there").
			WithHint("name the bucket of SVC_ARTIFACTS_BUCKET, or the place of a backup")
	case len(nodes) > 1:
		return "", fmt.Errorf("several servers have copies there: name one with --node: %s", strings.Join(nodes, ", "))
	}
	return nodes[0], nil
}
