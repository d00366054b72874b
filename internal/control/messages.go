package control

import (
	"time"

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
}

// Prepared says which migrations were applied now, as "<binding>/<name>".
type Prepared struct {
	Applied []string `json:"applied"`
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
