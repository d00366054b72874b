package hyperdrive

import (
	"context"
	"fmt"
	"path/filepath"
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
type Kind struct {
	Databases []svc.ForeignDatabase
	RunDir    string // for the sockets of databases that are reached by TLS
}

var (
	_ binding.Kind   = Kind{}
	_ binding.Warner = Kind{}
)

// Name is "hyperdrive".
func (Kind) Name() string { return kinds.Hyperdrive }

// Check rejects a declaration without an id.
func (Kind) Check(d bundle.Binding) error {
	return binding.CheckResource(d, "is the id of the configuration", "a Hyperdrive binding")
}

// Open opens the tunnel to a database that is reached by TLS.
func (k Kind) Open(ctx context.Context, d bundle.Binding, _ volume.Volumes) (binding.Instance, error) {
	db, ok := k.find(d.Resource)
	if !ok || db.TLS == "" {
		return nil, nil // the contract of a kind without data
	}
	return openTunnel(ctx, db, k.socket(db))
}

// socket is where the tunnel to a database listens. Its name is short, as paths of sockets
// have to be.
func (k Kind) socket(db svc.ForeignDatabase) string {
	i := slices.IndexFunc(k.Databases, func(other svc.ForeignDatabase) bool { return other.ID == db.ID })
	return filepath.Join(k.RunDir, fmt.Sprintf("hyperdrive-%d.sock", i))
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
	service, address := "hyperdrive:"+d.Resource, db.Address
	if db.TLS != "" {
		address = "unix:" + k.socket(db)
	}
	return binding.Wiring{
		Binding: workerd.Binding{Name: d.Name, Hyperdrive: &workerd.Hyperdrive{
			Service: service, Database: db.Database, User: db.User, Password: db.Password, Scheme: db.Scheme,
		}},
		Services: []workerd.Service{{Name: service, External: &workerd.External{Address: address, TCP: true}}},
	}
}
