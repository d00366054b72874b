package kv

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

// Kind is the kind "kv". Its zero value is ready.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "kv".
func (Kind) Name() string { return kinds.KV }

// Records are the keys.
func (Kind) Records() []binding.Table {
	return []binding.Table{{Database: volume.SharedDatabase, Name: "kv_entry", Record: svc.ExportKey, Owners: "kv_namespace", Column: "namespace"}}
}

// Check rejects a namespace without a name, and one with a config.
func (Kind) Check(d bundle.Binding) error {
	return binding.CheckResource(d, "names the namespace", "a key-value namespace")
}

// Open opens the namespace in the version's shared database.
func (Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, volume.SharedDatabase)
	if err != nil {
		return nil, err
	}
	return open(ctx, d.Resource, db)
}

//go:embed client.js
var client string

// Wire is workerd's own key-value binding, served by the namespace, with its calls in order.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	service := "kv:" + d.Resource
	return s.Client(d, service, client, workerd.Binding{Name: "namespace", KVNamespace: service})
}
