package binding

import (
	_ "embed"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

//go:embed order.js
var orderSource string

// order is the extension that keeps the calls on one key in order.
//
//nolint:gochecknoglobals // constant
var order = workerd.Module{Name: "svc-internal:order", Type: workerd.ESModule, Source: orderSource}

// OrderModule is svc-internal:order, for kinds that are wired otherwise than by Client.
func OrderModule() workerd.Module { return order }

// Client wires d with a module of its own, source, whose default export makes the binding
// from inner and from the text resource, the Route of d. The module can import
// svc-internal:order and svc-internal:context.
func (s Site) Client(d bundle.Binding, service, source string, inner workerd.Binding) Wiring {
	route, module := Route(d), "svc-internal:"+d.Kind
	return Wiring{
		Binding: workerd.Binding{Name: d.Name, Wrapped: &workerd.Wrapped{
			Module: module, Inner: []workerd.Binding{inner, {Name: "resource", Text: &route}},
		}},
		Services: []workerd.Service{s.Service(service, d)},
		Modules:  []workerd.Module{order, {Name: module, Type: workerd.ESModule, Source: source}},
	}
}
