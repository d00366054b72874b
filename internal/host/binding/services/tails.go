package services

import (
	_ "embed"
	"encoding/json"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

//go:embed tail.js
var tail string

const tailService = "svc:tail"

// tailProps are ctx.props of the tail consumer.
type tailProps struct {
	relayProps

	ScriptName    string        `json:"scriptName"`
	ScriptVersion scriptVersion `json:"scriptVersion"`
}

type scriptVersion struct {
	ID string `json:"id"`
}

// Tails are the tail consumers of the worker of m, and the services that they need.
func Tails(m *bundle.Manifest, s binding.Site) (tails []workerd.ServiceRef, list []workerd.Service) {
	for _, c := range m.TailConsumers {
		t := tailTarget(c)
		props, _ := json.Marshal(tailProps{ // strings
			relayProps: propsOf("", nil, t, s), ScriptName: s.Ref.Project, ScriptVersion: scriptVersion{s.Ref.Version},
		})
		tails = append(tails, workerd.ServiceRef{Name: tailService, Props: string(props)})
	}
	if tails == nil {
		return nil, nil
	}
	list = relayServices(s)
	own := *list[0].Worker
	own.Modules = append([]workerd.Module{{Name: "svc-tail.js", Type: workerd.ESModule, Source: tail}}, own.Modules...)
	return tails, append(list, workerd.Service{Name: tailService, Worker: &own})
}

func tailTarget(c bundle.TailConsumer) Target { return named(c.Service, c.Version) }
