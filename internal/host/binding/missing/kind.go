package missing

import (
	_ "embed"
	"fmt"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "missing". Its zero value is ready. The resource of a declaration is the
// key of the project file.
type Kind struct{ binding.NoData }

var (
	_ binding.Kind   = Kind{}
	_ binding.Warner = Kind{}
)

// Name is "missing".
func (Kind) Name() string { return kinds.Missing }

// Check rejects a declaration without a key.
func (Kind) Check(d bundle.Binding) error {
	return binding.CheckResource(d, "is the key of the project file", "a missing binding")
}

// Warning is for the warnings of the version.
func (Kind) Warning(d bundle.Binding) string {
	return fmt.Sprintf("binding %s: %s is not supported; every use of the binding throws", d.Name, d.Resource)
}

//go:embed client.js
var client string

// Wire makes an object that throws.
func (k Kind) Wire(d bundle.Binding, _ binding.Site) binding.Wiring {
	return Object(d.Name, fmt.Sprintf("binding %s: %s is not supported by this server; the version was deployed with --allow-missing", d.Name, d.Resource))
}

// Object is the wiring of an object that throws an error with message when it is used.
func Object(name, message string) binding.Wiring {
	const module = "svc-internal:missing"
	return binding.Wiring{
		Binding: workerd.Binding{Name: name, Wrapped: &workerd.Wrapped{Module: module, Inner: []workerd.Binding{{Name: "message", Text: &message}}}},
		Modules: []workerd.Module{{Name: module, Type: workerd.ESModule, Source: client}},
	}
}
