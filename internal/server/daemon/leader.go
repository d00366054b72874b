package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/fleet/kube"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
)

// Leader is the right to serve of one of several servers with the same settings.
type Leader struct {
	ID    string // for Config.Writer
	lease *kube.Leadership
}

// Lead waits until this process holds SVC_LEADER_LEASE, and writes the newest copy of the registry
// into the data directory. Meanwhile it has Services lead to it, by a label of its pod, SVC_K8S_POD. Without
// the setting it returns nil.
func Lead(ctx context.Context, cfg *config.Daemon, log *slog.Logger) (*Leader, error) {
	if cfg.Kubernetes.Lease == "" {
		return nil, nil // a single server
	}
	client, err := kube.Connect(cfg.Kubernetes.Config, cfg.Kubernetes.Namespace)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // for people
	l := &Leader{ID: host + "_" + strings.ToLower(rand.Text()[:8])}
	log.InfoContext(ctx, "waiting for the lease", "lease", cfg.Kubernetes.Lease, "id", l.ID)
	if l.lease, err = kube.Lead(ctx, client, cfg.Kubernetes.Lease, l.ID, log); err != nil {
		return nil, err
	}
	announced := make(chan struct{})
	go func() {
		defer close(announced)
		if pod := cfg.Kubernetes.Pod; pod != "" { // now: machines dial until they find this server
			l.lease.Announce(ctx, pod)
		}
	}()
	err = takeOver(ctx, cfg, l.ID, log)
	<-announced
	if err != nil {
		l.Release(ctx)
		return nil, err
	}
	return l, nil
}

// Lost is closed when another server may serve. This process must end then, without an orderly
// stop: it has nothing to write any more. It is nil for a nil Leader.
func (l *Leader) Lost() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.lease.Lost()
}

// Writer returns the identity, "" of a nil Leader.
func (l *Leader) Writer() string {
	if l == nil {
		return ""
	}
	return l.ID
}

// before returns what is known of the server that led before, for a nil Leader and machines that are lost
// after a silence: at began its permits were valid.
func (l *Leader) before(began time.Time, silence time.Duration) kube.Before {
	if l == nil {
		return kube.Before{Ended: began.Add(machines.ValidFor(silence))}
	}
	return l.lease.Before()
}

// Serves says that d serves now: it serves on while the API server is away, if the object store says that
// no other server has taken over.
func (l *Leader) Serves(d *Daemon) {
	if l != nil {
		l.lease.Trust(d.owns)
	}
}

// owns reports whether this daemon has the lease of its node in the object store.
func (d *Daemon) owns() bool {
	lease := d.ownership.lease
	if lease == nil {
		return false
	}
	select {
	case <-lease.Lost():
		return false
	default:
		return lease.Age() < d.cfg.LeaseTTL
	}
}

// Release lets another server lead, after this one has stopped.
func (l *Leader) Release(ctx context.Context) {
	if l != nil {
		l.lease.Release(context.WithoutCancel(ctx))
	}
}

// takeOver replaces the registry of the data directory by its newest copy. Before the first copy
// there is nothing to take over.
func takeOver(ctx context.Context, cfg *config.Daemon, writer string, log *slog.Logger) error {
	began := time.Now()
	// The bundles there were not synced: a power failure may have left files of zeros.
	if err := os.RemoveAll(layout{data: &dataDir{path: cfg.DataDir}}.cache()); err != nil {
		return err
	}
	store, err := s3.New(s3.Config{Endpoint: cfg.S3.Endpoint, Region: cfg.S3.Region, AccessKey: cfg.S3.AccessKey, SecretKey: cfg.S3.SecretKey})
	if err == nil {
		err = store.EnsureBucket(ctx, cfg.ArtifactsBucket)
	}
	if err != nil {
		return fmt.Errorf("object store: %w", err)
	}
	bucket := store.Bucket(cfg.ArtifactsBucket, "")
	nodes, err := backup.Nodes(ctx, bucket)
	switch {
	case err != nil:
		return fmt.Errorf("object store: %w", err)
	case len(nodes) == 0:
		return nil
	case len(nodes) > 1:
		return svc.Errorf(svc.Conflict, svc.CodeDataDirInUse, "the bucket %s has the registries of several servers: %s", cfg.ArtifactsBucket, strings.Join(nodes, ", ")).
			WithHint("give each group of servers that stand by for one another its own SVC_ARTIFACTS_BUCKET")
	}
	state, err := backup.TakeOver(ctx, bucket, nodes[0], cfg.RecoveryKey, writer, registry.CheckSchema)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} { // of the last time that this process led
		if err := os.Remove(cfg.RegistryDB + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := Rebuild(cfg, state); err != nil {
		return err
	}
	log.InfoContext(ctx, "took over the registry", "node", nodes[0], "as_of", state.At, "duration", time.Since(began))
	return nil
}
