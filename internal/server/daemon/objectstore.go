package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/server/versions/artifact"
)

// objectStore is the object store, external or embedded, and its two buckets.
type objectStore struct {
	target    s3.Config
	store     *s3.Store
	embedded  *s3server.Server // nil with an external store
	artifacts *s3.Bucket
	runtime   *s3.Bucket
	probe     string // bucket for the health check
}

// openObjects connects to the configured object store, or starts the embedded one, and
// creates missing buckets.
func openObjects(ctx context.Context, c Config, dirs layout, report func(op, result string, took time.Duration)) (*objectStore, error) {
	cfg := c.Settings
	o := &objectStore{probe: cfg.ArtifactsBucket}
	target := s3.Config{Endpoint: cfg.S3.Endpoint, Region: cfg.S3.Region, AccessKey: cfg.S3.AccessKey, SecretKey: cfg.S3.SecretKey}
	if target.Endpoint == "" {
		server, err := startEmbedded(ctx, c, dirs)
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

func startEmbedded(ctx context.Context, c Config, dirs layout) (*s3server.Server, error) {
	cfg := c.Settings
	limits := clientLimits(cfg.Clients, fileLimit())
	server, err := s3server.New(s3server.Config{
		Connections: limits.API, Timeout: limits.Timeout, NoSync: c.WatchMode,
		Dir: dirs.objectStore(), Socket: dirs.storeSocket(), Address: cfg.EmbeddedS3Addr,
		Command: append(c.Command, ObjectStoreCommand), Env: childEnv(cfg), Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	return server, server.Start(ctx)
}

func (o *objectStore) connect(ctx context.Context, cfg *config.Daemon, target s3.Config) error {
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

// presigner returns nil for the embedded store, which remote clients cannot reach:
// their uploads go through the API.
func (o *objectStore) presigner() artifact.Presigner { //nolint:ireturn // nil or the bucket
	if o.embedded != nil {
		return nil
	}
	return o.artifacts
}

func (o *objectStore) endpoint(cfg *config.Daemon) string {
	if o.embedded != nil {
		return o.embedded.Endpoint()
	}
	return cfg.S3.Endpoint
}

// Ping checks that the object store answers. spec: [C11.4].
func (o *objectStore) Ping(ctx context.Context) error { return o.store.Ping(ctx, o.probe) }

func (o *objectStore) close() {
	if o.embedded != nil {
		o.embedded.Stop()
	}
}
