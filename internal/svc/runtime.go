package svc

import (
	"maps"
	"reflect"
	"time"
)

// RuntimeSpec describes the runtime of a version to its worker host. Local is for
// a host on the daemon's machine; the rest is valid on any machine. Env, Secrets,
// Host.Storage and Host.Backends hold secrets: a spec is sent over the control line and is never
// written or logged.
type RuntimeSpec struct {
	Ref        Ref               `json:"ref"`
	CreatedAt  time.Time         `json:"created_at"`
	Tag        string            `json:"tag"`                   // label of the version: its git ref or ""
	Digest     string            `json:"digest"`                // of the bundle, "sha256:<hex>"; "" when no bundle is needed
	Env        map[string]string `json:"env"`                   // overrides
	Secrets    map[string]string `json:"secrets,omitempty"`     // of the version's class; they fill names that nothing else has
	Parent     string            `json:"parent"`                // id of the version that the data was forked from; "" for a root
	Scrub      Scrub             `json:"scrub"`                 // what Prepare does to each database before it migrates
	Host       HostConfig        `json:"host"`                  // set by the supervisor
	EventsOff  bool              `json:"events_off,omitempty"`  // no event reaches the worker, until the daemon says otherwise
	Continues  bool              `json:"continues,omitempty"`   // the version continues the events of its parent: a release made it
	HandedOver bool              `json:"handed_over,omitempty"` // another version continues with the events of this one
	ReadOnly   bool              `json:"read_only,omitempty"`   // the project is read-only, until the daemon says otherwise
	WakeAt     time.Time         `json:"wake_at,omitzero"`      // when the version, which slept, was to run for its own work; zero for never

	ObjectNamespace ObjectNamespace `json:"object_namespace,omitempty"` // of the version's Durable Objects

	// ObjectKeys are the keys (ObjectNamespace.Key) of the classes of other workers' Durable Objects
	// that the worker reaches, by the names that package services gives them.
	ObjectKeys map[string]string `json:"object_keys,omitempty"`

	Local LocalSpec `json:"local"`
}

// BeginsWithEvents reports whether a worker host with the spec sends events before the daemon says
// so: a version that a release makes must send none before it is production.
func (s RuntimeSpec) BeginsWithEvents() bool { return !s.EventsOff && !s.HandedOver && !s.Continues }

// HostConfig is the part of a RuntimeSpec that is equal for all versions of a
// daemon.
type HostConfig struct {
	HeapMB       int           `json:"heap_mb"`          // limit of a worker's V8 heap, in MiB
	MemoryMB     int           `json:"memory_mb"`        // limit of the memory of host and workerd, in MiB; 0 means none
	Subrequests  int           `json:"subrequests"`      // calls of fetch in one invocation of the worker; 0 means no limit
	QueueLimit   int           `json:"queue_limit"`      // messages of one queue; 0 means no limit
	Traces       bool          `json:"traces,omitempty"` // the host reports spans of invocations whose trace is recorded
	MemoryMaxMB  int           `json:"memory_max_mb"`    // highest limit that a bundle may set for itself; 0 means any
	DiskMB       int           `json:"disk_mb"`          // limit of a version's files on the node, in MiB; 0 means none
	StartTimeout time.Duration `json:"start_timeout"`    // limit until workerd's sockets listen
	StartCPU     time.Duration `json:"start_cpu"`        // CPU time that workerd may use until then
	Storage      Storage       `json:"storage"`
	Network      NetworkPolicy `json:"network"`
	Confine      Confine       `json:"confine"`            // "" means ConfineAuto
	Isolation    Isolation     `json:"isolation,omitzero"` // zero means that workerd has the uid of the server
	Backends     Backends      `json:"backends"`
	Inspect      bool          `json:"inspect"`     // workerd listens for debuggers, which may run any code: for watch mode alone
	CacheBytes   int64         `json:"cache_bytes"` // limit of a version's Cache API on disk; 0 stores nothing
}

// Confine is how workerd is confined to the files and system calls that it needs.
type Confine string

// The values of Confine.
const (
	ConfineAuto    Confine = "auto"    // as far as the kernel can
	ConfineRequire Confine = "require" // or it does not start
	ConfineOff     Confine = "off"
)

// NetworkPolicy changes which addresses workers can reach: by default public
// addresses other than the machine's own. Both lists hold CIDR prefixes.
type NetworkPolicy struct {
	Allow []string `json:"allow"` // in addition to the default
	Deny  []string `json:"deny"`  // overrides an equal prefix in Allow
}

// LocalSpec is the part of a RuntimeSpec that is valid only on the daemon's
// machine. Paths are absolute; DataDir and LogDir are created if missing.
type LocalSpec struct {
	BundleDir string `json:"bundle_dir"` // the unpacked bundle, read only
	DataDir   string `json:"data_dir"`   // cache of the version's data
	LogDir    string `json:"log_dir"`    // of the worker's log
	FilesDir  string `json:"files_dir"`  // unpacked bundle whose static files are shown; "" for BundleDir
	Warm      string `json:"warm"`       // Forked.Warm, for the first start after a fork; else ""
	Workerd   string `json:"workerd"`    // the binary; set by the supervisor
	RunDir    string `json:"run_dir"`    // private, with a short path, for sockets; set by the supervisor
	Group     string `json:"group"`      // control group of the worker host; "" for none; set by the supervisor
}

// Same reports whether s and o describe the same runtime. Warm does not count:
// only the first start after a fork has it. Nor do FilesDir, which may change, ObjectKeys, which
// other workers change while the runtime runs, and what a start says of events and of writes,
// which the daemon changes later, nor WakeAt, which is of one start.
func (s RuntimeSpec) Same(o RuntimeSpec) bool {
	s.Local.Warm, o.Local.Warm = "", ""
	s.Local.FilesDir, o.Local.FilesDir = "", ""
	s.ObjectKeys, o.ObjectKeys = nil, nil
	s.EventsOff, o.EventsOff = false, false
	s.HandedOver, o.HandedOver = false, false
	s.ReadOnly, o.ReadOnly = false, false
	s.WakeAt, o.WakeAt = time.Time{}, time.Time{}
	if s.CreatedAt.Equal(o.CreatedAt) { // in whatever time zone
		o.CreatedAt = s.CreatedAt
	}
	if maps.Equal(s.Env, o.Env) { // nil or empty
		o.Env = s.Env
	}
	if maps.Equal(s.Secrets, o.Secrets) {
		o.Secrets = s.Secrets
	}
	return reflect.DeepEqual(s, o)
}

// Values returns the overrides and the secrets that they do not replace: what a log must not show.
func (s RuntimeSpec) Values() map[string]string {
	all := maps.Clone(s.Secrets)
	if all == nil {
		return s.Env
	}
	maps.Copy(all, s.Env)
	return all
}

// Prepared is what Prepare changed in a version's data.
type Prepared struct {
	Seeded  []SeedFile `json:"seeded"`  // seed files that were imported or skipped
	Applied []string   `json:"applied"` // migrations, as "<binding>/<name>"

	Took time.Duration `json:"took,omitempty"` // of all migrations

	Warnings []string `json:"warnings,omitempty"` // of the version
}

// SeedFile is a seed file that was imported, or skipped permanently.
type SeedFile struct {
	Binding string `json:"binding"`
	Path    string `json:"path"`
	Skipped string `json:"skipped,omitempty"` // why it was not imported; "" if it was
}

// String returns "<binding> from <path>", with the reason if the file was skipped.
func (f SeedFile) String() string {
	text := f.Path
	if f.Binding != "" {
		text = f.Binding + " from " + f.Path
	}
	if f.Skipped != "" {
		text += " (skipped: " + f.Skipped + ")"
	}
	return text
}

// Endpoint is where a runtime listens. It is zero unless the runtime serves.
type Endpoint struct {
	Socket      string    `json:"socket"`       // path of the worker's unix socket
	Calls       string    `json:"calls"`        // path of the socket that other workers' calls reach; "" for none
	Port        int       `json:"port"`         // on 127.0.0.1, of the worker host
	PortKey     string    `json:"port_key"`     // a secret that requests to Port carry
	PID         int       `json:"pid"`          // of the worker host
	WorkerdPID  int       `json:"workerd_pid"`  // of its workerd
	Inspector   int       `json:"inspector"`    // port of workerd's inspector on 127.0.0.1; 0 for none
	Node        string    `json:"node"`         // name of the machine; "" for the daemon's own
	ClusterNode string    `json:"cluster_node"` // of the cluster that the machine, a pod, is on; "" if the machine is a node itself
	Direct      string    `json:"direct"`       // host:port of the machine where gateways reach the runtime; "" for none
	DirectPin   string    `json:"direct_pin"`   // join.Pin of the certificate at Direct
	StartedAt   time.Time `json:"started_at"`
}

// RuntimeState is a state of a runtime.
type RuntimeState string

// The states of a runtime.
const (
	RuntimeStarting RuntimeState = "starting" // the worker does not serve yet
	RuntimeServing  RuntimeState = "serving"
	RuntimeBackoff  RuntimeState = "backoff" // it crashed and is restarted at RetryAt
	RuntimeCrashed  RuntimeState = "crashed" // its first start failed; nothing restarts it
	RuntimeStopped  RuntimeState = "stopped"
	RuntimeAsleep   RuntimeState = "asleep" // no processes, because nothing asked for the version; a request starts it
)

// Runtime describes the runtime of a version.
type Runtime struct {
	Ref         Ref
	State       RuntimeState
	Since       time.Time // when State began
	RetryAt     time.Time // when a runtime in backoff is started again; else zero
	WakeAt      time.Time // when one that sleeps is started for work of its own; zero for never
	WorkedAt    time.Time // of the last ping that reported the end of an event; zero for none
	Endpoint    Endpoint
	Restarts    int           // crashes since it was opened
	RSSBytes    int64         // of both processes; 0 if unknown
	Descriptors int           // open file descriptors of both processes; 0 if unknown
	CPU         time.Duration // processor time of both processes since they began; 0 if unknown
	LastError   string        // of the last crash; "" if there was none
	Behind      time.Duration // age of the oldest unreplicated write, as of the last ping
	DataError   string        // of the last replication; "" after a success
	Tallies     []Tally       // as of the last ping
}

// PagedOut says how the memory of a runtime was moved to swap, and how much.
type PagedOut struct {
	Way   PageOutWay `json:"way"`
	Bytes int64      `json:"bytes"` // that are no longer in memory
}

// PageOutWay is how memory was moved to swap.
type PageOutWay string

// The ways, by what the server is allowed to do.
const (
	PageOutProcesses PageOutWay = "processes" // of worker host and workerd, each by itself
	PageOutGroup     PageOutWay = "group"     // of their control group
	PageOutHost      PageOutWay = "host"      // of the worker host alone: there is no right to more
)

// Tally is how many things of a binding's resource are in one state.
type Tally struct {
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
	State    string `json:"state"`
	Count    int64  `json:"count"`
}
