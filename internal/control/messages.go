package control

import (
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// Spec is the first message: all a host needs to know about its version.
type Spec struct {
	Ref          svc.Ref           `json:"ref"`
	CreatedAt    time.Time         `json:"created_at"`
	Tag          string            `json:"tag"`           // the version's label: its git ref or ""
	BundleDir    string            `json:"bundle_dir"`    // the unpacked bundle, read only
	DataDir      string            `json:"data_dir"`      // the version's data
	LogDir       string            `json:"log_dir"`       // of worker.log
	RunDir       string            `json:"run_dir"`       // private, with a short path, for sockets
	Env          map[string]string `json:"env"`           // overrides
	Workerd      string            `json:"workerd"`       // path of the binary
	HeapMB       int               `json:"heap_mb"`       // the worker's V8 heap, in MiB
	StartTimeout time.Duration     `json:"start_timeout"` // for workerd's sockets to listen
	Parent       string            `json:"parent"`        // version id the data was branched from; "" for a root
	Warm         string            `json:"warm"`          // what the Cut of the parent said, in the deploy that made it
	Scrub        svc.Scrub         `json:"scrub"`         // what Prepare does to each database before it migrates
	Storage      Storage           `json:"storage"`
}

// Storage says where the truth about the data is, and who the host is to it.
type Storage struct {
	Endpoint  string        `json:"endpoint"` // http(s)://host[:port], or unix:/path of a socket
	Region    string        `json:"region"`
	AccessKey string        `json:"access_key"`
	SecretKey string        `json:"secret_key"` // on this line only, which no other process sees
	Data      Place         `json:"data"`       // of the logs
	Manifests Place         `json:"manifests"`
	Owner     branch.Owner  `json:"owner"`
	Sync      bool          `json:"sync"`   // SVC_DURABILITY=sync
	Window    time.Duration `json:"window"` // SVC_SYNC_WINDOW
	Lease     time.Duration `json:"lease"`  // SVC_LEASE_TTL; 0: no other host reaches the store
	Grace     time.Duration `json:"grace"`  // SVC_GC_GRACE
}

// Place is a bucket of the store, or a directory.
type Place struct {
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix"` // before every key, "" or with a slash at its end
	Dir    string `json:"dir"`    // instead of both
}

// Cut is one moment of all of a version's stores, which a child can begin with.
type Cut struct {
	Stores map[string]branch.Cut `json:"stores"`
	Warm   string                `json:"warm"` // for the Spec of a child on this machine; "" for nothing
}

// Pong is what a host says of itself.
type Pong struct {
	Behind time.Duration `json:"behind"` // age of the oldest write that the object store does not have
	Error  string        `json:"error"`  // of the last try to bring one there; "" after a success
	// Requests to the object store that the daemon was not told of.
	Requests []Requests `json:"requests,omitempty"`
}

// Requests counts those of one operation that ended in one way.
type Requests struct {
	Op     string `json:"op"`
	Result string `json:"result"`
	N      int    `json:"n"`
}

// Prepared says what was done to the data now.
type Prepared struct {
	Seeded  []string `json:"seeded"`  // seeds that were imported, as "<binding> from <path>", or left out, and why
	Applied []string `json:"applied"` // migrations, as "<binding>/<name>"
}

// Ready says where a version listens.
type Ready struct {
	Socket     string `json:"socket"` // path of the unix socket
	Port       int    `json:"port"`   // on 127.0.0.1
	WorkerdPID int    `json:"workerd_pid"`
}

// Stop asks for an end. Requests under way have Grace to finish.
type Stop struct {
	Grace time.Duration `json:"grace"`
}

// Exit reports that workerd exited and nobody had asked it to.
type Exit struct {
	Code   string `json:"code"`   // as workerd.Explain names it
	Detail string `json:"detail"` // for people
}
