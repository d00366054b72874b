package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/server/upkeep/health"
	"github.com/svcctl/svcctl/internal/svc"
)

// ownership is the place of the versions' data, and this daemon's lease there.
type ownership struct {
	objects         *objectStore
	places          svc.Storage // for worker hosts
	data, manifests objstore.Bucket
	branches        *branch.Store
	lease           *branch.Lease // nil with the embedded store, which no other node uses
}

// startOwnership checks that the object store has the required semantics, and takes the
// lease of this node.
func (d *Daemon) startOwnership(ctx context.Context, _ Config) error {
	node, err := d.dirs.data.nodeID()
	if err != nil {
		return err
	}
	owner := svc.Owner{Node: node, Session: strings.ToLower(rand.Text())}
	o := &ownership{objects: d.objects, data: d.objects.runtime, places: d.places(owner)}
	if o.manifests, err = o.openManifests(ctx); err != nil {
		return err
	}
	if o.branches, err = branch.New(branch.Config{Data: o.data, Manifests: o.manifests, LeaseTTL: d.cfg.LeaseTTL, Grace: d.cfg.GCGrace, Logger: d.logger}); err != nil {
		return err
	}
	if d.objects.embedded == nil {
		if o.lease, err = o.branches.Hold(context.WithoutCancel(ctx), owner); err != nil {
			return fmt.Errorf("object store: %w", err)
		}
		d.stops.Push("host lease", o.lease.Stop)
		go d.watchLease(o.lease)
	}
	d.ownership = o
	return nil
}

// watchLease fails the daemon if another daemon takes the lease of this node: it runs
// with a copy of the data directory.
func (d *Daemon) watchLease(l *branch.Lease) {
	<-l.Lost()
	d.fail("host lease", errors.New("another daemon runs with a copy of this data directory: give each daemon its own data directory"))
}

// places returns the Storage for worker hosts.
func (d *Daemon) places(owner svc.Owner) svc.Storage {
	t := d.objects.target
	data := svc.Place{Bucket: d.cfg.RuntimeBucket, Prefix: d.cfg.RuntimePrefix}
	p := svc.Storage{
		Endpoint: t.Endpoint, Region: t.Region, AccessKey: t.AccessKey, SecretKey: t.SecretKey.Reveal(),
		Data: data, Manifests: data, Owner: owner, Sync: d.cfg.Durability == "sync", Window: d.cfg.SyncWindow, Grace: d.cfg.GCGrace, History: !d.cfg.History.Off(),
	}
	if d.objects.embedded == nil || d.cfg.Hosts.Remote {
		p.Lease = d.cfg.LeaseTTL
	}
	if d.cfg.Hosts.Remote {
		p.Endpoint, p.Artifacts = d.objects.endpoint(d.cfg), svc.Place{Bucket: d.cfg.ArtifactsBucket}
	}
	if b := d.cfg.BranchStore; b != (config.BranchStore{}) {
		p.Manifests = svc.Place{Bucket: b.Bucket, Prefix: b.Prefix, Dir: b.Dir}
	}
	return p
}

// openManifests opens BRANCH_STORE, and probes it and the data's bucket.
func (o *ownership) openManifests(ctx context.Context) (objstore.Bucket, error) {
	if err := probe(ctx, "RUNTIME_BUCKET", o.data); err != nil {
		return nil, err
	}
	p := o.places.Manifests
	if p == o.places.Data {
		return o.data, nil
	}
	var bucket objstore.Bucket
	var err error
	if p.Dir != "" {
		bucket, err = dirstore.Open(p.Dir)
	} else if err = o.objects.store.EnsureBucket(ctx, p.Bucket); err == nil {
		bucket = o.objects.store.Bucket(p.Bucket, p.Prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("BRANCH_STORE: %w", err)
	}
	return bucket, probe(ctx, "BRANCH_STORE", bucket)
}

// probe returns an error for an object store whose semantics would lose data.
func probe(ctx context.Context, name string, b objstore.Bucket) error {
	if err := objstore.Probe(ctx, b, "probe"); err != nil {
		return fmt.Errorf("probing the object store of %s: %w", name, err)
	}
	return nil
}

// node returns the identity of this node in an external object store. It is "" with the
// embedded one, which no other node uses.
func (o *ownership) node() string {
	if o.objects.embedded != nil {
		return ""
	}
	return o.places.Owner.Node
}

// checks returns the health checks of the data, named after settings.
func (o *ownership) checks(cfg *config.Daemon, runtimes func() []svc.Runtime) (health.Checks, error) {
	list := health.Checks{
		{Name: "SVC_ARTIFACTS_BUCKET", Run: o.objects.Ping},
		{Name: "RUNTIME_BUCKET", Run: health.Bucket(o.data)},
		{Name: "writes", Run: health.Lag(runtimes, health.LagLimit(cfg.Durability == "sync", cfg.SyncWindow))},
	}
	if p := o.places.Manifests; p.Dir != "" {
		check, err := health.Directory(p.Dir, o.manifests)
		if err != nil {
			return nil, fmt.Errorf("BRANCH_STORE: %w", err)
		}
		list = append(list, &health.Check{Name: "BRANCH_STORE", Run: check})
	} else if p != o.places.Data {
		list = append(list, &health.Check{Name: "BRANCH_STORE", Run: health.Bucket(o.manifests)})
	}
	if o.lease != nil {
		list = append(list, &health.Check{Name: "host lease", Run: health.Lease(o.lease.Age, o.places.Lease)})
	}
	return list, nil
}

// Nodes returns this node, and with an external object store all others with their leases.
func (o *ownership) Nodes(ctx context.Context) ([]svc.NodeLease, time.Duration, error) {
	if o.lease == nil {
		return []svc.NodeLease{{Owner: o.places.Owner, Here: true}}, 0, nil
	}
	nodes, err := o.branches.Nodes(ctx)
	list := make([]svc.NodeLease, len(nodes))
	for i, n := range nodes {
		list[i] = svc.NodeLease{Owner: n.Owner, Here: n.Owner == o.places.Owner, Released: n.Released, Renewed: n.Renewed}
	}
	return list, o.branches.TTL(), err
}

// ownerReads is how many records of versions are read at a time.
const ownerReads = 8

// Owners reads who owns the data of versions.
func (o *ownership) Owners(ctx context.Context, versions []svc.Ref) ([]svc.DataOwner, error) {
	list := make([]svc.DataOwner, len(versions))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(ownerReads)
	for i, v := range versions {
		reads.Go(func() error {
			r, err := o.branches.Record(ctx, v)
			if err != nil || r == nil {
				return err
			}
			owner := svc.Owner{Node: r.Owner, Session: r.Session}
			list[i] = svc.DataOwner{State: string(r.State), Owner: owner, Here: owner == o.places.Owner, Epoch: r.Epoch, TakenOver: r.TakenOver, Changed: r.Changed()}
			return nil
		})
	}
	return list, reads.Wait()
}

var _ objstore.Bucket = (*s3.Bucket)(nil)
