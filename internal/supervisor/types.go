package supervisor

import (
	"cmp"
	"maps"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Spec is what a version's runtime is started with. All directories are
// absolute; DataDir and LogDir are made when missing.
type Spec struct {
	Ref       svc.Ref
	BundleDir string // the unpacked bundle
	DataDir   string
	LogDir    string
	Env       map[string]string // overrides
	CreatedAt time.Time         // of the version
	Tag       string            // the version's label: its git ref or ""
	Parent    string            // the version id its data was branched from; "" for a root
	Warm      string            // what the parent's Cut said; a later start goes without
	Scrub     svc.Scrub         // what Prepare does to each database before it migrates
}

func (s Spec) same(o Spec) bool {
	return s.Ref == o.Ref && s.BundleDir == o.BundleDir && s.DataDir == o.DataDir && s.LogDir == o.LogDir &&
		s.CreatedAt.Equal(o.CreatedAt) && s.Tag == o.Tag && s.Parent == o.Parent && s.Scrub == o.Scrub && maps.Equal(s.Env, o.Env)
}

// Endpoint is where a runtime answers. It is zero unless the state is
// StateServing.
type Endpoint struct {
	Socket     string // path of the worker's unix socket
	Port       int    // on 127.0.0.1
	PID        int    // of the host
	WorkerdPID int
	StartedAt  time.Time
}

// State is how a runtime stands.
type State string

// The states of a runtime.
const (
	StateStarting State = "starting" // the host is there, or coming; the worker does not serve yet
	StateServing  State = "serving"
	StateBackoff  State = "backoff" // it died and will be started again
	StateCrashed  State = "crashed" // it will not, unless Open is called
	StateStopped  State = "stopped"
)

// Runtime describes a runtime.
type Runtime struct {
	Ref       svc.Ref
	State     State
	Since     time.Time // when State began
	Endpoint  Endpoint
	Restarts  int
	RSSBytes  int64  // of both processes; 0 where the system does not say
	LastError string // why it last died; "" if it never did
	// Behind is how old the oldest write is that the object store does not have;
	// DataError why it does not, as of the last ping.
	Behind    time.Duration
	DataError string
}

func compareRefs(a, b svc.Ref) int {
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Version, b.Version))
}
