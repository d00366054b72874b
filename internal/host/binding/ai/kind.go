package ai

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kind is the kind "ai". Without a Backend every call of run throws.
type Kind struct{ Backend svc.AIBackend }

var (
	_ binding.Kind   = Kind{}
	_ binding.Warner = Kind{}
)

// Name is "ai".
func (Kind) Name() string { return kinds.AI }

// Check rejects a declaration that names data.
func (Kind) Check(d bundle.Binding) error {
	if d.Resource != "" || len(d.Config) > 0 {
		return errors.New("an AI binding has neither a resource nor a config")
	}
	return nil
}

// Warning is for a server without an API.
func (k Kind) Warning(d bundle.Binding) string {
	if k.Backend.URL != "" {
		return ""
	}
	return fmt.Sprintf("binding %s: the server has no SVC_AI_URL; every call of run throws", d.Name)
}

// Open opens no data.
func (k Kind) Open(context.Context, bundle.Binding, volume.Volumes) (binding.Instance, error) {
	return &api{backend: k.Backend, client: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: idleConns},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key is for this address
	}}, nil
}

// idleConns is how many connections to the API a version keeps.
const idleConns = 4

//go:embed client.js
var client string

// Wire is a module that calls the worker host.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	const service = "ai:"
	return s.Client(d, service, client, workerd.Binding{Name: "service", Service: &workerd.ServiceRef{Name: service}})
}
