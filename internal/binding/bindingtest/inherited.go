package bindingtest

import (
	"context"

	"github.com/svcctl/svcctl/internal/binding"
)

// Inherited are volumes whose stores say that they came from a parent, v1.
type Inherited struct{ binding.Volumes }

type inheritedStore struct{ binding.Store }

// Store implements binding.Volumes.
func (v Inherited) Store(ctx context.Context, name string) (binding.Store, error) {
	s, err := v.Volumes.Store(ctx, name)
	return inheritedStore{s}, err
}

// History implements binding.Store.
func (inheritedStore) History() binding.History {
	return binding.History{Parent: "v1", Fork: 1, Head: 2}
}
