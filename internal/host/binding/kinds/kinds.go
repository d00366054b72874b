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
	VersionMetadata = "version_metadata"
	QueueProducer   = "queue_producer"
	QueueConsumer   = "queue_consumer" // in the API alone: a manifest has its consumers in a field of their own
	DurableObject   = "durable_object"
)

// Kind describes one kind.
type Kind struct {
	Name      string
	ConfigKey string // of a project file: what declares its bindings there
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
		{KV, "kv_namespaces", Seeds{Exts: []string{".jsonl"}}},
		{Database, "d1_databases", Seeds{Exts: []string{".sql", ".sqlite", ".db"}, Below: ".sql"}},
		{ObjectStore, "r2_buckets", Seeds{Below: "*"}},
		{VersionMetadata, "version_metadata", Seeds{}},
		{DurableObject, "durable_objects", Seeds{}},
		{QueueProducer, "queues", Seeds{}},
		{QueueConsumer, "queues", Seeds{}},
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
