// Package all lists the binding kinds this program ships.
package all

import (
	"slices"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/cron"
	"github.com/svcctl/svcctl/internal/host/binding/database"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
	"github.com/svcctl/svcctl/internal/host/binding/missing"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
	"github.com/svcctl/svcctl/internal/host/binding/queues"
	"github.com/svcctl/svcctl/internal/host/binding/versionmeta"
	"github.com/svcctl/svcctl/internal/host/binding/workflow"
)

// Kinds gives every kind, in the order they are documented.
func Kinds() []binding.Kind {
	return slices.Concat([]binding.Kind{kv.Kind{}, database.Kind{}, objects.Kind{}, workflow.Kind{}, versionmeta.Kind{}, durableobject.Kind{}, cron.Kind{}}, queues.Kinds(), []binding.Kind{missing.Kind{}})
}
