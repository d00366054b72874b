// Package kinds names the binding kinds, for the parts of the program that do not
// run them: the client, which writes them into bundles. binding/all has the kinds
// themselves; a test there holds the two lists together.
package kinds

import "slices"

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
)

// WorkflowConfig is the config of a binding of kind Workflow.
type WorkflowConfig struct {
	ClassName string `json:"class_name"` // of the worker's main module
}

// Kind describes one kind.
type Kind struct {
	Name      string
	ConfigKey string // of a project file: what declares its bindings there
	Inherited bool   // an environment without ConfigKey has that of the top level
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
		{Name: Cron, ConfigKey: "triggers", Inherited: true},
		{Name: QueueProducer, ConfigKey: "queues"},
		{Name: QueueConsumer, ConfigKey: "queues"},
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
