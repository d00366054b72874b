package objects

import (
	"context"
	_ "embed"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kind is the kind "object_store". Its zero value is ready.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "object_store".
func (Kind) Name() string { return kinds.ObjectStore }

// Records are the objects.
func (Kind) Records() []binding.Table {
	return []binding.Table{{Database: volume.SharedDatabase, Name: "object_entry", Record: svc.ExportObject, Owners: "object_bucket", Column: "bucket", Parts: "object_blob"}}
}

// Check rejects a bucket without a name, and one with a config.
func (Kind) Check(d bundle.Binding) error {
	return binding.CheckResource(d, "names the bucket", "an object store")
}

// Open opens the bucket in the version's shared database.
func (Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, volume.SharedDatabase)
	if err != nil {
		return nil, err
	}
	return open(ctx, d.Resource, db, v.Blobs())
}

//go:embed client.js
var client string

// Wire is workerd's own R2 binding, served by the bucket, with its calls in order.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	service := "r2:" + d.Resource
	return s.Client(d, service, client, workerd.Binding{Name: "bucket", R2Bucket: service})
}
