package database

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/workerd"
)

// Kind is the kind "database". Its zero value is ready.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "database".
func (Kind) Name() string { return "database" }

// Check refuses a database without a name and a config: there is none.
func (Kind) Check(d bundle.Binding) error {
	switch {
	case d.Resource == "":
		return errors.New("the resource, which names the database, is missing")
	case len(storeName(d.Resource)) > 150:
		return errors.New("the database's name is too long")
	case len(d.Config) > 0:
		return errors.New("a database has no config")
	}
	return nil
}

// storeName is the store of a database: its own, since its SQL is the user's.
// The prefix keeps it apart from the stores of other kinds; no two resources
// have the same, also where files' names ignore case.
func storeName(resource string) string {
	var b strings.Builder
	b.WriteString("database-")
	for _, c := range []byte(resource) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, ".%02x", c)
		}
	}
	return b.String()
}

// Open opens the database's store.
func (Kind) Open(ctx context.Context, d bundle.Binding, v binding.Volumes) (binding.Instance, error) {
	store, err := v.Store(ctx, storeName(d.Resource))
	if err != nil {
		return nil, err
	}
	return open(ctx, store, v.Temp)
}

// Wire is workerd's own D1 binding, served by the database.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	name := "database:" + d.Resource
	return binding.Wiring{
		Binding: workerd.Binding{Name: d.Name, Wrapped: &workerd.Wrapped{
			Module: "cloudflare-internal:d1-api",
			Inner:  []workerd.Binding{{Name: "fetcher", Service: &workerd.ServiceRef{Name: name}}},
		}},
		Services: []workerd.Service{s.Service(name, d)},
	}
}
