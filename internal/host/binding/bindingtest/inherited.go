package bindingtest

import (
	"context"

	"github.com/svcctl/svcctl/internal/data/volume"
)

// Inherited are volumes whose databases say that they came from a parent, v1.
type Inherited struct{ volume.Volumes }

type inheritedDatabase struct{ volume.Database }

// Database implements volume.Volumes.
func (v Inherited) Database(ctx context.Context, name string) (volume.Database, error) {
	db, err := v.Volumes.Database(ctx, name)
	return inheritedDatabase{db}, err
}

// History implements volume.Database.
func (inheritedDatabase) History() volume.History {
	return volume.History{Parent: "v1", Fork: 1, Head: 2}
}
