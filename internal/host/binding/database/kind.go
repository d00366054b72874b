package database

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "database". Its zero value is ready.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "database".
func (Kind) Name() string { return kinds.Database }

// Check rejects a database without a name, and one with a config.
func (Kind) Check(d bundle.Binding) error {
	if len(fileName(d.Resource)) > 150 {
		return errors.New("the database's name is too long")
	}
	return binding.CheckResource(d, "names the database", "a database")
}

// fileName is the name of a resource's database: its own, since its SQL is the
// user's. The prefix keeps it apart from the databases of other kinds; no two
// resources have the same name, also where files' names ignore case.
func fileName(resource string) string {
	var b strings.Builder
	b.WriteString(volume.UserPrefix)
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

// Open opens the database.
func (Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, fileName(d.Resource))
	if err != nil {
		return nil, err
	}
	return open(ctx, db, v.Temp)
}

//go:embed client.js
var client string

// Wire is a D1 binding of our own module, served by the database.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	service := "database:" + d.Resource
	return s.Client(d, service, client, workerd.Binding{Name: "fetcher", Service: &workerd.ServiceRef{Name: service}})
}
