package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/dirstore"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/s3"
)

// storage is where the versions' data is, and what this daemon is to it.
type storage struct {
	objects  *objects
	places   control.Storage // what hosts are told
	data     objstore.Bucket
	branches *branch.Store
	lease    *branch.Lease // nil with the embedded store, which nobody else can reach
	lag      func() error  // what is not well with the data of those that run
	health   []*inquiry    // of Ping
}

// startStorage makes sure that the object store keeps its promises, and says in
// it that this host lives.
func (d *Daemon) startStorage(ctx context.Context, _ Config) error {
	host, err := d.dirs.data.hostID()
	if err != nil {
		return err
	}
	owner := branch.Owner{Host: host, Session: strings.ToLower(rand.Text())}
	s := &storage{objects: d.objects, data: d.objects.runtime, places: d.places(owner)}
	manifests, err := s.manifests(ctx)
	if err != nil {
		return err
	}
	if s.branches, err = branch.New(branch.Config{Data: s.data, Manifests: manifests, LeaseTTL: d.cfg.LeaseTTL, Grace: d.cfg.GCGrace, Logger: d.logger}); err != nil {
		return err
	}
	if d.objects.embedded == nil {
		if s.lease, err = s.branches.Hold(context.WithoutCancel(ctx), owner); err != nil {
			return fmt.Errorf("object store: %w", err)
		}
		d.onStop("host lease", s.lease.Stop)
		go d.watchLease(s.lease)
	}
	d.storage = s
	s.health, err = s.inquiries(manifests)
	return err
}

// watchLease stops the daemon when another one believes to be the same host: a
// copy of the data directory runs somewhere.
func (d *Daemon) watchLease(l *branch.Lease) {
	<-l.Lost()
	d.fail("host lease", errors.New("another daemon runs with a copy of this data directory: give each its own"))
}

// places is what hosts are told about the object store.
func (d *Daemon) places(owner branch.Owner) control.Storage {
	t := d.objects.target
	data := control.Place{Bucket: d.cfg.RuntimeBucket, Prefix: d.cfg.RuntimePrefix}
	p := control.Storage{
		Endpoint: t.Endpoint, Region: t.Region, AccessKey: t.AccessKey, SecretKey: t.SecretKey.Reveal(),
		Data: data, Manifests: data, Owner: owner, Sync: d.cfg.Durability == "sync", Window: d.cfg.SyncWindow, Grace: d.cfg.GCGrace,
	}
	if d.objects.embedded == nil {
		p.Lease = d.cfg.LeaseTTL
	}
	if b := d.cfg.BranchStore; b != (config.BranchStore{}) {
		p.Manifests = control.Place{Bucket: b.Bucket, Prefix: b.Prefix, Dir: b.Dir}
	}
	return p
}

// manifests opens BRANCH_STORE, and probes it and the data's bucket.
func (s *storage) manifests(ctx context.Context) (objstore.Bucket, error) {
	if err := probe(ctx, "RUNTIME_BUCKET", s.data); err != nil {
		return nil, err
	}
	p := s.places.Manifests
	if p == s.places.Data {
		return s.data, nil
	}
	var bucket objstore.Bucket
	var err error
	if p.Dir != "" {
		bucket, err = dirstore.Open(p.Dir)
	} else if err = s.objects.store.EnsureBucket(ctx, p.Bucket); err == nil {
		bucket = s.objects.store.Bucket(p.Bucket, p.Prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("BRANCH_STORE: %w", err)
	}
	return bucket, probe(ctx, "BRANCH_STORE", bucket)
}

// probe refuses a store that would lose data.
func probe(ctx context.Context, name string, b objstore.Bucket) error {
	if err := objstore.Probe(ctx, b, "probe"); err != nil {
		return fmt.Errorf("the store behind %s cannot be used: %w", name, err)
	}
	return nil
}

// hostID is the name of this data directory among all that use an object store.
func (d *dataDir) hostID() (string, error) {
	var h struct {
		ID string `json:"id"`
	}
	path := d.sub("host.json")
	err := readPrivate(path, &h)
	if errors.Is(err, os.ErrNotExist) {
		h.ID = strings.ToLower(rand.Text())
		return h.ID, writePrivate(path, h)
	}
	if err == nil && h.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be used: %w: restore it, or delete it and be a new host", path, err)
	}
	return h.ID, nil
}

var _ objstore.Bucket = (*s3.Bucket)(nil)
