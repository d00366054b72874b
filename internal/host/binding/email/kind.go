package email

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kind is the kind "send_email". Without a Relay mail stays in the outbox. The resource of
// a declaration is the name of the binding: each has rules of its own.
type Kind struct{ Relay svc.MailRelay }

var (
	_ binding.Kind     = Kind{}
	_ binding.Warner   = Kind{}
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*outbox)(nil)
	_ binding.Stored   = (*outbox)(nil)
)

// Name is "send_email".
func (Kind) Name() string { return kinds.SendEmail }

// Check rejects a declaration without a resource.
func (Kind) Check(d bundle.Binding) error {
	if d.Resource == "" {
		return errors.New("the resource, which names the rules, is missing")
	}
	_, err := bundle.ConfigOf[kinds.SendEmailConfig](d)
	return err
}

// Warning is for a server without a relay.
func (k Kind) Warning(d bundle.Binding) string {
	if k.Relay.Address != "" {
		return ""
	}
	return fmt.Sprintf("binding %s: the server has no SVC_SMTP_URL; mail stays in the outbox of the version", d.Name)
}

// database has the outbox of a version.
const database = volume.OwnPrefix + "email"

// Open opens the outbox.
func (k Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, database)
	if err != nil {
		return nil, err
	}
	config, err := bundle.ConfigOf[kinds.SendEmailConfig](d)
	if err != nil {
		return nil, err
	}
	return open(ctx, &outbox{name: d.Name, rules: config, relay: k.Relay, db: db})
}

//go:embed client.js
var client string

// Wire is a module that calls the worker host.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	service := "send_email:" + d.Resource
	return s.Client(d, service, client, workerd.Binding{Name: "service", Service: &workerd.ServiceRef{Name: service}})
}
