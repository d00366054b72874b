package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// SchemaVersion is the version of the bundle format [D40] that this program writes and reads. The
// numbers below it belong to programs before version 0.1.0.
const SchemaVersion = 5

// Manifest is manifest.json of a bundle: everything a version consists of.
// docs/design/bundle-format.md and manifest.schema.json describe it.
type Manifest struct {
	SchemaVersion      int            `json:"schema_version"`
	Name               string         `json:"name,omitempty"`       // the worker's own name, for people
	Main               string         `json:"main,omitempty"`       // name of the entry module; "" for assets alone
	Modules            []Module       `json:"modules"`              // files under modules/
	CompatibilityDate  string         `json:"compatibility_date"`   // YYYY-MM-DD
	CompatibilityFlags []string       `json:"compatibility_flags"`  // never experimental ones
	Vars               map[string]Var `json:"vars,omitempty"`       // env of source "bundle"
	Bindings           []Binding      `json:"bindings,omitempty"`   // resources
	Seeds              []Seeds        `json:"seeds,omitempty"`      // imported in `preparing`, once
	Migrations         []Migrations   `json:"migrations,omitempty"` // applied in `preparing`
	Crons              []string       `json:"crons,omitempty"`      // when scheduled() runs: expressions of package cronexpr
	SourceMaps         []File         `json:"source_maps,omitempty"`
	Limits             *RuntimeLimits `json:"limits,omitempty"` // nil for those of the server

	QueueConsumers []QueueConsumer `json:"queue_consumers,omitempty"` // one for each queue at most
	ObjectClasses  []ObjectClass   `json:"object_classes,omitempty"`  // of Durable Objects
	Assets         *Assets         `json:"assets,omitempty"`          // nil for a worker without
	TailConsumers  []TailConsumer  `json:"tail_consumers,omitempty"`
	Release        *Release        `json:"release,omitempty"` // nil for none
}

// TailConsumer is another worker whose tail handler gets a record of each event of this
// one.
type TailConsumer struct {
	Service  string `json:"service"`            // the name of its project
	Version  string `json:"version,omitempty"`  // its id, or the name of a preview; "" for production
	Optional bool   `json:"optional,omitempty"` // it may be missing when the version is deployed
}

// RuntimeLimits are limits that a worker sets for itself. The operator bounds them.
type RuntimeLimits struct {
	MemoryMB    int `json:"memory_mb,omitempty"`   // of the worker and its host, in MiB; 0 for the server's
	Subrequests int `json:"subrequests,omitempty"` // calls of fetch in one invocation; 0 for the server's
}

// MinMemoryMB is the least RuntimeLimits.MemoryMB: an idle worker needs about half of it.
const MinMemoryMB = 64

// ObjectClass is a class of Durable Objects that the main module exports, or one that had
// objects and is deleted.
type ObjectClass struct {
	Name    string `json:"name"`              // of the exported class
	Key     string `json:"key"`               // stays when the class is renamed; names its data
	SQL     bool   `json:"sql,omitempty"`     // objects may use SQL beside the key-value API
	Deleted bool   `json:"deleted,omitempty"` // the version has no such class and drops its objects

	// Described: the project describes its classes and does not say how they came about. The parent's
	// classes are compared with them.
	Described bool `json:"described,omitempty"`
}

// Module is one module file, stored at modules/<name>.
type Module struct {
	Name   string     `json:"name"`
	Type   ModuleType `json:"type"`
	SHA256 string     `json:"sha256"` // lower-case hex
	Size   int64      `json:"size"`   // bytes
}

// ModuleType is how the runtime loads a module.
type ModuleType string

// The module types of the format.
const (
	ESModule ModuleType = "esm"
	CommonJS ModuleType = "commonjs"
	Text     ModuleType = "text"
	Data     ModuleType = "data"
	Wasm     ModuleType = "wasm"
	JSON     ModuleType = "json"
	// Script is a main module in service-worker format: it registers its handlers with
	// addEventListener, finds variables and bindings among the globals, and gets other
	// modules with require.
	Script ModuleType = "script"
)

// File is a file of the bundle by its path in it.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Var is one variable: a string, or any other JSON value, which reaches the
// worker as an object.
type Var struct {
	Text *string
	JSON json.RawMessage
}

// Binding declares one resource under a name of the worker's env.
type Binding struct {
	Name     string          `json:"name"`               // the name in env
	Kind     string          `json:"kind"`               // "kv", "database", "version_metadata" ...
	Resource string          `json:"resource,omitempty"` // bindings of a kind with the same resource share its data
	Config   json.RawMessage `json:"config,omitempty"`   // an object, for kinds that define one
}

// ConfigOf reads the config of a binding as that of its kind. A key that C does not have is
// an error; a binding without a config has C's zero value.
func ConfigOf[C any](b Binding) (c C, err error) {
	if len(b.Config) == 0 {
		return c, nil
	}
	dec := json.NewDecoder(bytes.NewReader(b.Config))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	return c, nil
}

// Migrations are the SQL files of one database binding, in the order they are
// applied, stored at migrations/<binding>/<name>.
type Migrations struct {
	Binding string `json:"binding"`
	Table   string `json:"table"` // records the applied files, as with wrangler
	Files   []File `json:"files"`
}

// Seeds are the files that one binding of a version starts with, in the order they
// are imported: seed/<binding>.<ext> or below seed/<binding>/. The binding's kind
// defines their format.
type Seeds struct {
	Binding string `json:"binding"`
	Files   []File `json:"files"`
}
