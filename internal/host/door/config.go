package door

import (
	_ "embed"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

//go:embed shim.js
var shim string

// Name is the name of the door's service and of its socket in a config.
const Name = "door"

// shimDate is the compatibility date of the shim.
const shimDate = "2026-11-01"

// Service is the shim, which calls the default entrypoint of the service worker, and
// what others are that events go to.
func Service(worker string, others ...workerd.Binding) workerd.Service {
	return workerd.Service{Name: Name, Worker: &workerd.Worker{
		Modules:            []workerd.Module{{Name: "shim.js", Type: workerd.ESModule, Source: shim}},
		CompatibilityDate:  shimDate,
		CompatibilityFlags: []string{"service_binding_extra_handlers"}, // scheduled() and queue() of a binding are events
		Bindings:           append([]workerd.Binding{{Name: "WORKER", Service: &workerd.ServiceRef{Name: worker}}}, others...),
	}}
}

// Socket is where the shim listens: at path, in a private directory.
func Socket(path string) workerd.Socket {
	return workerd.Socket{Name: Name, Address: "unix:" + path, Service: workerd.ServiceRef{Name: Name}}
}
