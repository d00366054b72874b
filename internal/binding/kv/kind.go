package kv

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/workerd"
)

// storeName is the store that all key-value namespaces of a version share.
const storeName = "sys"

// Kind is the kind "kv". Its zero value is ready.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "kv".
func (Kind) Name() string { return "kv" }

// Check refuses a namespace without a name and a config: there is none.
func (Kind) Check(d bundle.Binding) error {
	switch {
	case d.Resource == "":
		return errors.New("the resource, which names the namespace, is missing")
	case len(d.Config) > 0:
		return errors.New("a key-value namespace has no config")
	}
	return nil
}

// Open opens the namespace in the version's shared store.
func (Kind) Open(ctx context.Context, d bundle.Binding, v binding.Volumes) (binding.Instance, error) {
	store, err := v.Store(ctx, storeName)
	if err != nil {
		return nil, err
	}
	return open(ctx, d.Resource, store)
}

// Wire is workerd's own key-value binding, served by the namespace.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	name := "kv:" + d.Resource
	return binding.Wiring{
		Binding:  workerd.Binding{Name: d.Name, KVNamespace: name},
		Services: []workerd.Service{s.Service(name, d)},
	}
}
