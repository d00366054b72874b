package all

import (
	"slices"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/ai"
	"github.com/svcctl/svcctl/internal/host/binding/analytics"
	"github.com/svcctl/svcctl/internal/host/binding/cron"
	"github.com/svcctl/svcctl/internal/host/binding/database"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/binding/email"
	"github.com/svcctl/svcctl/internal/host/binding/hyperdrive"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
	"github.com/svcctl/svcctl/internal/host/binding/missing"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
	"github.com/svcctl/svcctl/internal/host/binding/queues"
	"github.com/svcctl/svcctl/internal/host/binding/ratelimit"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/host/binding/storesecret"
	"github.com/svcctl/svcctl/internal/host/binding/versionmeta"
	"github.com/svcctl/svcctl/internal/host/binding/workflow"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kinds gives every kind, in the order they are documented, without backends.
func Kinds() []binding.Kind { return KindsOf(svc.RuntimeSpec{}) }

// KindsOf gives every kind, for a version. Those that lead to services outside of the server have
// the backends of s.
func KindsOf(s svc.RuntimeSpec) []binding.Kind {
	b := s.Host.Backends
	return slices.Concat([]binding.Kind{kv.Kind{}, database.Kind{}, objects.Kind{}, workflow.Kind{}, versionmeta.Kind{}, durableobject.Kind{Namespace: s.ObjectNamespace}, services.Kind{}, cron.Kind{MissedSince: s.WakeAt}}, queues.Kinds(s.Host.QueueLimit), []binding.Kind{
		ai.Kind{Backend: b.AI},
		analytics.Kind{Keep: b.AnalyticsKeep},
		ratelimit.Kind{},
		email.Kind{Relay: b.Mail},
		hyperdrive.Kind{Databases: b.Databases, RunDir: s.Local.RunDir},
		storesecret.Kind{},
		missing.Kind{},
	})
}
