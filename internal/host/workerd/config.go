package workerd

// Config is what one workerd process runs. The order of slices is kept in the
// rendered text, so equal configs render to equal bytes. Structured logging is
// always on: ReadLog depends on it.
type Config struct {
	Services   []Service
	Sockets    []Socket
	Extensions []Module // ES modules of the platform; wrapped bindings and other extensions can import them
	V8Flags    []string // "--max-old-space-size=128"
}

// Service is one named service: exactly one of its parts is set.
type Service struct {
	Name     string
	Worker   *Worker
	External *External
	Network  *Network
	Disk     *Disk
}

// Worker is JavaScript and what it can reach.
type Worker struct {
	Modules            []Module // the first is the entry point
	CompatibilityDate  string   // YYYY-MM-DD
	CompatibilityFlags []string
	Bindings           []Binding
	GlobalOutbound     string // service for fetch(); "" leaves workerd's default
	CacheAPIOutbound   string // service behind the Cache API; "" for none
	ObjectClasses      []ObjectClass
	ObjectStorage      string       // the service of a Disk for the storage of ObjectClasses; "" keeps it in memory
	Tails              []ServiceRef // get a record of each event of the worker that has ended
}

// ObjectClass is a class of Durable Objects.
type ObjectClass struct {
	Name string // of the exported class
	Key  string // its objects' ids and the directory of their files are made from it
	SQL  bool   // whether objects may use SQL
}

// ModuleType is how workerd loads a module.
type ModuleType string

// The module types.
const (
	ESModule ModuleType = "esModule"
	CommonJS ModuleType = "commonJsModule"
	Text     ModuleType = "text"
	Data     ModuleType = "data"
	Wasm     ModuleType = "wasm"
	JSON     ModuleType = "json"
)

// Module is one module. Its content is Source, or the file at Path (absolute;
// workerd reads it at start, which keeps big modules out of the config).
type Module struct {
	Name   string
	Type   ModuleType
	Source string
	Path   string
	Public bool // an extension: the worker's own modules can import it too
}

// Binding is one name in a worker's env: exactly one of its values is set.
type Binding struct {
	Name          string
	Text          *string
	JSON          *string
	Service       *ServiceRef
	KVNamespace   string // service name
	R2Bucket      string // service name
	Queue         string // service name
	ObjectClass   string // name of an ObjectClass of this worker, or of ObjectService
	ObjectService string // the service with ObjectClass; "" for this worker
	Wrapped       *Wrapped
	DebugPort     bool // connects to Options.DebugAddress of any workerd that it can reach
	Hyperdrive    *Hyperdrive
}

// ServiceRef points at a service, or at one entrypoint of it.
type ServiceRef struct {
	Name       string
	Entrypoint string
	Props      string // JSON; "" for none
}

// Wrapped is a binding that an internal module makes from inner bindings.
type Wrapped struct {
	Module     string
	Entrypoint string // "" for the default export
	Inner      []Binding
}

// Hyperdrive is a database that the worker connects to through a service, an External
// with TCP. Scheme is "postgresql" or "mysql".
type Hyperdrive struct {
	Service                          string
	Database, User, Password, Scheme string
}

// External is a service behind an address ("unix:/path" or "host:port").
type External struct {
	Address              string
	InjectRequestHeaders []Header
	ForwardedProtoHeader string
	CFBlobHeader         string // carries the options of a request (cf) as JSON
	TCP                  bool   // connections, not HTTP
}

// Header is one HTTP header.
type Header struct{ Name, Value string }

// Network is outbound network, with TLS by the authorities that browsers trust.
// Allow and Deny take "public", "private", "local" and CIDR ranges, which
// workerd matches against resolved addresses; Deny wins.
type Network struct {
	Allow []string
	Deny  []string
}

// Disk serves the directory at Path (absolute), read-only unless Writable.
type Disk struct {
	Path     string
	Writable bool
}

// Socket listens at Address ("unix:/path" or "host:port"; port 0 chooses one).
type Socket struct {
	Name                 string
	Address              string
	Service              ServiceRef
	ForwardedProtoHeader string
	CFBlobHeader         string
}
