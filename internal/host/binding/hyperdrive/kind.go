package hyperdrive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/binding/missing"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kind is the kind "hyperdrive". The resource of a declaration is the id of one of
// Databases; a binding of another id throws when it is used.
type Kind struct{ Databases []svc.ForeignDatabase }

var (
	_ binding.Kind   = Kind{}
	_ binding.Warner = Kind{}
)

// Name is "hyperdrive".
func (Kind) Name() string { return kinds.Hyperdrive }

// Check rejects a declaration without an id.
func (Kind) Check(d bundle.Binding) error {
	switch {
	case d.Resource == "":
		return errors.New("the resource, which is the id of the configuration, is missing")
	case len(d.Config) > 0:
		return errors.New("a Hyperdrive binding has no config")
	}
	return nil
}

// Open has nothing to open.
func (Kind) Open(context.Context, bundle.Binding, volume.Volumes) (binding.Instance, error) {
	return nil, nil //nolint:nilnil // the contract of a kind without data
}

func (k Kind) find(id string) (svc.ForeignDatabase, bool) {
	i := slices.IndexFunc(k.Databases, func(db svc.ForeignDatabase) bool { return db.ID == id })
	if i < 0 {
		return svc.ForeignDatabase{}, false
	}
	return k.Databases[i], true
}

func lacking(d bundle.Binding) string {
	return fmt.Sprintf("binding %s: SVC_HYPERDRIVE of the server has no database with the id %q", d.Name, d.Resource)
}

// Warning is for an id that the server does not know.
func (k Kind) Warning(d bundle.Binding) string {
	if _, ok := k.find(d.Resource); ok {
		return ""
	}
	return lacking(d) + "; every use of the binding throws"
}

// Wire is workerd's own binding.
func (k Kind) Wire(d bundle.Binding, _ binding.Site) binding.Wiring {
	db, ok := k.find(d.Resource)
	if !ok {
		return missing.Object(d.Name, lacking(d))
	}
	service := "hyperdrive:" + d.Resource
	return binding.Wiring{
		Binding: workerd.Binding{Name: d.Name, Hyperdrive: &workerd.Hyperdrive{
			Service: service, Database: db.Database, User: db.User, Password: db.Password, Scheme: db.Scheme,
		}},
		Services: []workerd.Service{{Name: service, External: &workerd.External{Address: db.Address, TCP: true}}},
	}
}
