package services

import (
	_ "embed"
	"encoding/json"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

var (
	//go:embed client.js
	client string
	//go:embed objects.js
	objects string
	//go:embed relay.js
	relay string
)

const (
	relayService = "svc:relay"
	askService   = "svc:ask"
	relayDate    = "2026-11-01"

	clientModule  = "svc-internal:service"
	objectsModule = "svc-internal:service-objects"

	// A namespace without objects, for ids.
	idsService = "svc:ids:" // and the key
	idsClass   = "Ids"
	idsModule  = `import { DurableObject } from "cloudflare:workers"; export class ` + idsClass + ` extends DurableObject {}`
)

// relayProps are ctx.props of the relay.
type relayProps struct {
	Address    string          `json:"address"` // of the target
	Socket     string          `json:"socket"`  // its name
	Service    string          `json:"service"`
	Target     string          `json:"target"`               // for people
	Entrypoint string          `json:"entrypoint,omitempty"` // or the class of objects
	Props      json.RawMessage `json:"props,omitempty"`
}

// relayed wires a binding to another worker: an object in the worker (client.js), whose calls
// the relay passes on.
func relayed(name string, c kinds.ServiceConfig, t Target, s binding.Site) binding.Wiring {
	return binding.Wiring{
		Binding:  workerd.Binding{Name: name, Wrapped: &workerd.Wrapped{Module: clientModule, Inner: []workerd.Binding{inner(c.Entrypoint, c.Props, t, s), resource(kinds.Service, t.String())}}},
		Modules:  []workerd.Module{{Name: clientModule, Type: workerd.ESModule, Source: client}},
		Services: relayServices(s),
	}
}

// relayedObjects wires a binding to the objects of another worker's class. Their ids are made
// here: from names by the key of the class, as there. Without that key each use of the binding throws:
// workerd takes any id for an object, so that calls with wrong ids would reach other objects.
func relayedObjects(name string, c kinds.ServiceConfig, t Target, s binding.Site) binding.Wiring {
	w := relayed(name, c, t, s)
	w.Modules = append(append(w.Modules, durableobject.Modules()...), workerd.Module{Name: objectsModule, Type: workerd.ESModule, Source: objects})
	parts := []workerd.Binding{inner(c.ObjectClass, nil, t, s), resource(kinds.DurableObject, c.ObjectClass)}
	if key := s.ObjectKeys[ObjectKey(t, c.ObjectClass)]; key != "" {
		ids := idsOf(key)
		w.Services = append(w.Services, ids)
		parts = append(parts, workerd.Binding{Name: "ids", ObjectClass: idsClass, ObjectService: ids.Name})
	} else {
		why := "service " + t.String() + ": " + svc.CodeServiceNotFound + ": there was no project " + t.Project + " when this version started: deploy or wake this version again"
		parts = append(parts, workerd.Binding{Name: "absent", Text: &why})
	}
	w.Binding.Wrapped = &workerd.Wrapped{Module: objectsModule, Inner: parts}
	return w
}

// idsOf is a service with a namespace of that key.
func idsOf(key string) workerd.Service {
	return workerd.Service{Name: idsService + key, Worker: &workerd.Worker{
		Modules: []workerd.Module{{Name: "svc-ids.js", Type: workerd.ESModule, Source: idsModule}}, CompatibilityDate: relayDate,
		ObjectClasses: []workerd.ObjectClass{{Name: idsClass, Key: key}},
	}}
}

// resource names in traces what a binding calls.
func resource(kind, name string) workerd.Binding {
	text := kind + "/" + name
	return workerd.Binding{Name: "resource", Text: &text}
}

// inner is the relay to an entrypoint, or to the objects of a class.
func inner(entrypoint string, props json.RawMessage, t Target, s binding.Site) workerd.Binding {
	text, _ := json.Marshal(propsOf(entrypoint, props, t, s)) // strings, and JSON of a manifest
	return workerd.Binding{Name: "relay", Service: &workerd.ServiceRef{Name: relayService, Props: string(text)}}
}

func propsOf(entrypoint string, props json.RawMessage, t Target, s binding.Site) relayProps {
	return relayProps{Address: unix(s, t.Socket()), Socket: t.Socket(), Service: Worker, Target: t.String(), Entrypoint: entrypoint, Props: props}
}

func unix(s binding.Site, name string) string { return "unix:" + filepath.Join(s.RunDir, name) }

// relayServices are the relay and what it asks.
func relayServices(s binding.Site) []workerd.Service {
	return []workerd.Service{
		{Name: relayService, Worker: &workerd.Worker{
			Modules:           []workerd.Module{{Name: "svc-relay.js", Type: workerd.ESModule, Source: relay}},
			CompatibilityDate: relayDate, CompatibilityFlags: []string{"experimental"},
			Bindings: []workerd.Binding{
				{Name: "DEBUG", DebugPort: true},
				{Name: "ASK", Service: &workerd.ServiceRef{Name: askService}},
			},
		}},
		{Name: askService, External: &workerd.External{Address: unix(s, AskSocket)}},
	}
}
