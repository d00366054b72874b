package storesecret

import (
	_ "embed"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "store_secret". Its zero value is ready. The resource of a declaration
// is the name of the secret.
type Kind struct{ binding.NoData }

var _ binding.Kind = Kind{}

// Name is "store_secret".
func (Kind) Name() string { return kinds.StoreSecret }

// Check rejects a declaration without the name of a secret.
func (Kind) Check(d bundle.Binding) error {
	return binding.CheckResource(d, "is the name of the secret", "a secret")
}

//go:embed client.js
var client string

// Wire gives the module the value, if there is one.
func (k Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	const module = "svc-internal:store_secret"
	inner := []workerd.Binding{{Name: "name", Text: &d.Resource}}
	if value, set := s.Env[d.Resource]; set {
		inner = append(inner, workerd.Binding{Name: "value", Text: &value})
	}
	return binding.Wiring{
		Binding: workerd.Binding{Name: d.Name, Wrapped: &workerd.Wrapped{Module: module, Inner: inner}},
		Modules: []workerd.Module{{Name: module, Type: workerd.ESModule, Source: client}},
	}
}
