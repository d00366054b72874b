package project

import (
	"cmp"
	"encoding/json"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/bundle"
)

// File is a project file for one environment, defaults filled in. Paths are
// absolute.
type File struct {
	Path string // of the file; "" for an entry without one
	Dir  string // its directory: relative paths in it start here
	Root string // the worker's directory: Dir, or where a build tool's redirection to Path was found
	Env  string // the environment chosen; "" for the top level

	Output string   // the directory of the worker in the Build Output of the project, if that is deployed; else ""
	Inputs []string // files that were read for the project file, beside Path; absolute

	Name               string // "" when the file has none
	WorkerName         string // as the file has it: Name differs if it has underscores
	Main               string // "" for assets alone
	CompatibilityDate  string
	CompatibilityFlags []string

	Vars            map[string]bundle.Var
	KV              []KV
	Databases       []Database
	Buckets         []Bucket
	Workflows       []Workflow
	Producers       []Producer             // of queues
	Consumers       []bundle.QueueConsumer // of queues
	Crons           []string               // triggers.crons
	MemoryMB        int                    // limits.memory_mb; 0 when the file has none
	Subrequests     int                    // limits.subrequests; 0 when the file has none
	VersionMetadata string                 // the binding's name; "" for none
	Declared        []Declared             // bindings of the other kinds
	Objects         []ObjectBinding
	ObjectClasses   []bundle.ObjectClass
	Services        []Service
	TailConsumers   []bundle.TailConsumer
	Secrets         []Secret
	Release         *bundle.Release // promote, release and assets of the section svcctl; nil for none
	Assets          *Assets         // nil for none
	Functions       string          // directory of the Pages Functions that Main is generated from; "" for none
	Missing         []Missing
	Unsupported     []Unsupported // the keys, whether or not they may be missing

	Bundling Bundling
	Build    Build
	ToBuild  string // the command to run before a deploy, if a check found that something is not built; "" for none
}

// Secret is a variable that a version must be given (secrets.required).
type Secret struct {
	Name string
	At   string // "file:line:col"
}

// Declared is a binding that a manifest has as the file declares it, but for defaults.
type Declared struct {
	bundle.Binding

	Key  string // of the file: "ai"
	Type string // in TypeScript
}

// KV is one entry of kv_namespaces.
type KV struct {
	Binding string
	ID      string // "" when the file has none
}

// Resource names the namespace: bindings that name the same one share it.
func (k KV) Resource() string { return cmp.Or(k.ID, k.Binding) }

// Bucket is one entry of r2_buckets.
type Bucket struct {
	Binding string
	Name    string // bucket_name; "" when the file has none
}

// Resource names the bucket: bindings that name the same one share it.
func (b Bucket) Resource() string { return cmp.Or(b.Name, b.Binding) }

// ObjectBinding is one entry of durable_objects.bindings.
type ObjectBinding struct {
	Binding string
	Class   string
	Key     string // of the class, see bundle.ObjectClass
}

// Service is one entry of services.
type Service struct {
	Binding    string
	Name       string          // of the worker that is called
	Self       bool            // which is the worker itself
	Entrypoint string          // exported class; "" for the default export
	Props      json.RawMessage // nil for none
	Version    string          // of another project, or the name of a preview; "" for production
	Optional   bool            // the worker may be missing until it is called
	Class      string          // of Durable Objects, if the binding is to these
}

// Workflow is one entry of workflows.
type Workflow struct {
	Binding   string
	Name      string // bindings that name the same one share its instances
	ClassName string // exported by the main module
}

// Database is one entry of d1_databases.
type Database struct {
	Binding           string
	Name              string // database_name, may be ""
	ID                string // database_id, may be ""
	MigrationsDir     string // absolute
	MigrationsPattern string // relative to MigrationsDir
	MigrationsTable   string
	explicitDir       bool
}

// Resource names the database: bindings that name the same one share it.
func (d Database) Resource() string { return cmp.Or(d.Name, d.ID, d.Binding) }

// Bundling is how modules are made from sources.
type Bundling struct {
	NoBundle         bool
	FindAdditional   bool // find_additional_modules
	PreserveNames    bool // preserve_file_names
	BaseDir          string
	Rules            []Rule
	Modules          []Module // that a build tool lists, in place of those that Rules find; nil for none
	Define           map[string]string
	Alias            map[string]string
	Minify           bool
	KeepNames        bool
	TSConfig         string // "" lets the bundler look
	JSXFactory       string // "" leaves it to tsconfig
	JSXFragment      string
	UploadSourceMaps bool
}

// Rule tells which files are modules of their own, and of which type.
type Rule struct {
	Type        string // ESModule, CommonJS, CompiledWasm, Text or Data
	Globs       []string
	Fallthrough bool // later rules of the same type hold as well
}

// Built reports whether a build tool wrote what is deployed, and the project file for it.
func (f *File) Built() bool { return f.Dir != f.Root || f.Output != "" }

// Written are files of the Build Output without which it is not complete: the builds delete it first, and
// differ in the order in which they write it. Other modules may have other names after each build.
func (f *File) Written() []string {
	list := append(present(filepath.Dir(filepath.Dir(f.Output)), olderConfig), f.Path)
	if f.Main != "" {
		list = append(list, f.Main)
	}
	return list
}

// Build is the project's own build step.
type Build struct {
	Command   string // for sh -c; "" for none
	Dir       string
	WatchDirs []string
}

// Level is how much a notice matters.
type Level string

// The levels of a Notice.
const (
	Info    Level = "info"
	Warning Level = "warning"
)

// Notice is something a person should read that is no error.
type Notice struct {
	Level Level
	At    string // "file:line:col" or a file; may be ""
	Text  string
}

// String gives the notice on one line.
func (n Notice) String() string {
	if n.At == "" {
		return n.Text
	}
	return n.At + ": " + n.Text
}
