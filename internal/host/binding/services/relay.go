package services

import (
	_ "embed"
	"encoding/json"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

var (
	//go:embed client.js
	client string
	//go:embed relay.js
	relay string
)

const (
	relayService = "svc:relay"
	askService   = "svc:ask"
	relayDate    = "2026-11-01"
)

// relayProps are ctx.props of the relay.
type relayProps struct {
	Address    string          `json:"address"` // of the target
	Socket     string          `json:"socket"`  // its name
	Service    string          `json:"service"`
	Target     string          `json:"target"` // for people
	Entrypoint string          `json:"entrypoint,omitempty"`
	Props      json.RawMessage `json:"props,omitempty"`
}

// relayed wires a binding to another worker: an object in the worker (client.js), whose calls
// the relay passes on.
func relayed(name string, c kinds.ServiceConfig, t Target, s binding.Site) binding.Wiring {
	unix := func(name string) string { return "unix:" + filepath.Join(s.RunDir, name) }
	props, _ := json.Marshal(relayProps{ //nolint:errchkjson // strings, and JSON of a manifest
		Address: unix(t.Socket()), Socket: t.Socket(), Service: Worker, Target: t.String(), Entrypoint: c.Entrypoint, Props: c.Props,
	})
	const module = "svc-internal:service"
	return binding.Wiring{
		Binding: workerd.Binding{Name: name, Wrapped: &workerd.Wrapped{Module: module, Inner: []workerd.Binding{
			{Name: "relay", Service: &workerd.ServiceRef{Name: relayService, Props: string(props)}},
		}}},
		Modules: []workerd.Module{{Name: module, Type: workerd.ESModule, Source: client}},
		Services: []workerd.Service{
			{Name: relayService, Worker: &workerd.Worker{
				Modules:           []workerd.Module{{Name: "svc-relay.js", Type: workerd.ESModule, Source: relay}},
				CompatibilityDate: relayDate, CompatibilityFlags: []string{"experimental"},
				Bindings: []workerd.Binding{
					{Name: "DEBUG", DebugPort: true},
					{Name: "ASK", Service: &workerd.ServiceRef{Name: askService}},
				},
			}},
			{Name: askService, External: &workerd.External{Address: unix(AskSocket)}},
		},
	}
}
