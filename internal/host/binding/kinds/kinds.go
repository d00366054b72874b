package kinds

import (
	"encoding/json"
	"slices"
)

// The names of the kinds in manifests and in the API [D32].
const (
	KV              = "kv"
	Database        = "database"
	ObjectStore     = "object_store"
	Workflow        = "workflow"
	VersionMetadata = "version_metadata"
	Cron            = "cron"
	Missing         = "missing" // stands for a binding that is not supported
	QueueProducer   = "queue_producer"
	QueueConsumer   = "queue_consumer" // in the API alone: a manifest has its consumers in a field of their own
	DurableObject   = "durable_object"
	Service         = "service"
	AI              = "ai"
	AnalyticsEngine = "analytics_engine"
	RateLimit       = "rate_limit"
	Hyperdrive      = "hyperdrive"
	StoreSecret     = "store_secret"
	SendEmail       = "send_email"
)

// WorkflowConfig is the config of a binding of kind Workflow.
type WorkflowConfig struct {
	ClassName string `json:"class_name"` // of the worker's main module
}

// ServiceConfig is the config of a binding of kind Service.
type ServiceConfig struct {
	Self       bool            `json:"self,omitempty"`       // the worker itself, whatever its project is called
	Entrypoint string          `json:"entrypoint,omitempty"` // exported class; "" for the default export
	Props      json.RawMessage `json:"props,omitempty"`      // an object: ctx.props of the entrypoint
	Version    string          `json:"version,omitempty"`    // of another project, or the name of a preview; "" for production
	Optional   bool            `json:"optional,omitempty"`   // the project may be missing until it is called

	// ObjectClass: the binding is to the Durable Objects of this class of the worker.
	ObjectClass string `json:"object_class,omitempty"`
}

// RateLimitConfig is the config of a binding of kind RateLimit.
type RateLimitConfig struct {
	Limit  int `json:"limit"`  // calls with one key
	Period int `json:"period"` // seconds: 10 or 60
}

// SendEmailConfig is the config of a binding of kind SendEmail. Empty lists allow all
// addresses.
type SendEmailConfig struct {
	Destinations []string `json:"destinations,omitempty"`
	Senders      []string `json:"senders,omitempty"`
}

// Kind describes one kind.
type Kind struct {
	Name      string
	ConfigKey string // of a project file: what declares its bindings there
	Inherited bool   // an environment without ConfigKey has that of the top level
	Types     string // of its bindings in @cloudflare/workers-types; "" where the client does not need it
	Seeds     Seeds  // zero when bindings of the kind take none
}

// Seeds says how the seeds of a binding are named, below the directory of seeds.
type Seeds struct {
	Exts  []string // of a file that has the binding's name
	Below string   // in a directory that has the binding's name: files with this extension, or "*" for all, at any depth
}

// Any reports whether a kind takes seeds.
func (s Seeds) Any() bool { return len(s.Exts) > 0 || s.Below != "" }

// All gives every kind, in the order they are documented.
func All() []Kind {
	return []Kind{
		{Name: KV, ConfigKey: "kv_namespaces", Seeds: Seeds{Exts: []string{".jsonl"}}},
		{Name: Database, ConfigKey: "d1_databases", Seeds: Seeds{Exts: []string{".sql", ".sqlite", ".db"}, Below: ".sql"}},
		{Name: ObjectStore, ConfigKey: "r2_buckets", Seeds: Seeds{Below: "*"}},
		{Name: Workflow, ConfigKey: "workflows"},
		{Name: VersionMetadata, ConfigKey: "version_metadata"},
		{Name: DurableObject, ConfigKey: "durable_objects"},
		{Name: Service, ConfigKey: "services"},
		{Name: Cron, ConfigKey: "triggers", Inherited: true},
		{Name: QueueProducer, ConfigKey: "queues"},
		{Name: QueueConsumer, ConfigKey: "queues"},
		{Name: AI, ConfigKey: "ai", Types: "Ai"},
		{Name: AnalyticsEngine, ConfigKey: "analytics_engine_datasets", Types: "AnalyticsEngineDataset"},
		{Name: RateLimit, ConfigKey: "ratelimits", Types: "RateLimit"},
		{Name: SendEmail, ConfigKey: "send_email", Types: "SendEmail"},
		{Name: Hyperdrive, ConfigKey: "hyperdrive", Types: "Hyperdrive"},
		{Name: StoreSecret, ConfigKey: "secrets_store_secrets", Types: "SecretsStoreSecret"},
		{Name: Missing, ConfigKey: "svcctl", Inherited: true},
	}
}

// Named gives the kind with that name; false for an unknown one.
func Named(name string) (Kind, bool) {
	all := All()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}
