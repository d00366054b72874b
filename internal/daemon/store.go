package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/s3server"
	"github.com/svcctl/svcctl/internal/upload"
)

// objects is the object store, external or embedded, with its two buckets.
type objects struct {
	target    s3.Config
	store     *s3.Store
	embedded  *s3server.Server // nil with an external store
	artifacts *s3.Bucket
	runtime   *s3.Bucket
	probe     string // bucket asked for in deep health
}

// openObjects connects to the configured store, or starts the embedded one, and
// makes sure that the buckets exist.
func openObjects(ctx context.Context, cfg *config.Daemon, dirs layout, command []string, logger *slog.Logger, report func(op, result string)) (*objects, error) { //nolint:revive // parts of the daemon
	o := &objects{probe: cfg.ArtifactsBucket}
	target := s3.Config{Endpoint: cfg.S3.Endpoint, Region: cfg.S3.Region, AccessKey: cfg.S3.AccessKey, SecretKey: cfg.S3.SecretKey}
	if target.Endpoint == "" {
		server, err := startEmbedded(ctx, cfg, dirs, command, logger)
		if err != nil {
			return nil, err
		}
		o.embedded = server
		target = s3.Config{Endpoint: "unix:" + dirs.storeSocket(), AccessKey: server.Keys().AccessKey, SecretKey: server.Keys().SecretKey}
	}
	target.Report = report
	if err := o.connect(ctx, cfg, target); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func startEmbedded(ctx context.Context, cfg *config.Daemon, dirs layout, command []string, logger *slog.Logger) (*s3server.Server, error) {
	server, err := s3server.New(s3server.Config{
		Dir: dirs.objectStore(), Socket: dirs.storeSocket(), Address: cfg.EmbeddedS3Addr,
		Command: append(command, ObjectStoreCommand), Env: childEnv(cfg), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	return server, server.Start(ctx)
}

func (o *objects) connect(ctx context.Context, cfg *config.Daemon, target s3.Config) error {
	var err error
	o.target = target
	if o.store, err = s3.New(target); err != nil {
		return err
	}
	for _, bucket := range []string{cfg.ArtifactsBucket, cfg.RuntimeBucket} {
		if err := o.store.EnsureBucket(ctx, bucket); err != nil {
			return fmt.Errorf("object store: %w: check S3_ENDPOINT and its keys", err)
		}
	}
	o.artifacts = o.store.Bucket(cfg.ArtifactsBucket, "")
	o.runtime = o.store.Bucket(cfg.RuntimeBucket, cfg.RuntimePrefix)
	return nil
}

// presigner is nil for the embedded store, whose uploads come through the API so
// that a remote client needs no way to it.
func (o *objects) presigner() upload.Presigner { //nolint:ireturn // nil or the bucket
	if o.embedded != nil {
		return nil
	}
	return o.artifacts
}

func (o *objects) endpoint(cfg *config.Daemon) string {
	if o.embedded != nil {
		return o.embedded.Endpoint()
	}
	return cfg.S3.Endpoint
}

// Ping asks the store whether it answers. spec: GET /v1/health/deep.
func (o *objects) Ping(ctx context.Context) error { return o.store.Ping(ctx, o.probe) }

func (o *objects) close() {
	if o.embedded != nil {
		o.embedded.Stop()
	}
}

// layout is where things lie in the data directory.
type layout struct {
	data *dataDir
	run  string // sockets
}

func (l layout) objectStore() string { return l.data.sub("object-store") }
func (l layout) storeSocket() string { return filepath.Join(l.run, "s3.sock") }
func (l layout) runtimes() string    { return filepath.Join(l.run, "v") }
func (l layout) cache() string       { return l.data.sub("cache") }    // unpacked bundles: may vanish
func (l layout) versions() string    { return l.data.sub("versions") } // the versions' own data
func (l layout) logs() string        { return l.data.sub("logs") }
