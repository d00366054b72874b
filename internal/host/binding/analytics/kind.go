package analytics

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "analytics_engine". The resource of a declaration is the dataset.
type Kind struct {
	Keep time.Duration // after which rows are deleted; 0 keeps them
}

var (
	_ binding.Kind     = Kind{}
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*dataset)(nil)
	_ binding.Stored   = (*dataset)(nil)
)

// Name is "analytics_engine".
func (Kind) Name() string { return kinds.AnalyticsEngine }

// Check rejects a dataset whose name cannot be that of a table.
func (Kind) Check(d bundle.Binding) error {
	switch {
	case !kinds.IsDataset(d.Resource):
		return fmt.Errorf("the resource %q, which names the dataset, must have %s", d.Resource, kinds.DatasetRule)
	case len(d.Config) > 0:
		return errors.New("a dataset has no config")
	}
	return nil
}

// database has the datasets of a version.
const database = volume.OwnPrefix + "analytics"

// Open opens the table of the dataset.
func (k Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, database)
	if err != nil {
		return nil, err
	}
	return open(ctx, d.Resource, db, k.Keep)
}

//go:embed client.js
var client string

// Wire is a module that writes to the worker host.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	service := "analytics:" + d.Resource
	return s.Client(d, service, client, workerd.Binding{Name: "service", Service: &workerd.ServiceRef{Name: service}})
}
