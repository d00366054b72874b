// Package all lists the binding kinds this program ships.
package all

import (
	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/binding/database"
	"github.com/svcctl/svcctl/internal/binding/kv"
	"github.com/svcctl/svcctl/internal/binding/objects"
	"github.com/svcctl/svcctl/internal/binding/version"
)

// Kinds gives every kind, in the order they are documented.
func Kinds() []binding.Kind {
	return []binding.Kind{kv.Kind{}, database.Kind{}, objects.Kind{}, version.Kind{}}
}
