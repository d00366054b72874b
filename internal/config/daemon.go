package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/internal/svc"
)

// Daemon is what the control plane runs with: every setting, parsed.
type Daemon struct {
	DeployToken, AdminToken, LegacyToken svc.Secret

	TokensFile string // "" for none

	ListenHost       string
	APIPort          int            // 0 chooses one
	GatewayPort      int            // 0 chooses one
	GatewayEngine    string         // "loop" or "go"
	WebhookAllow     []netip.Prefix // private networks that webhooks reach
	TrustedProxies   []netip.Prefix // nil for loopback, without location headers
	GeoIP            []string       // paths
	TLS              TLS
	Gateways         Gateways
	GatewayURL       string
	APIURL           string
	APIHosts         []string
	GatewayVerifyURL string
	BaseDomain       string
	Domains          bool   // whether projects may have host names of other domains
	DomainsDNS       string // host:port of the name server that is asked for their proofs; "" for those of the system
	SchemePreview    string
	SchemeProd       string
	PreviewTemplate  string
	PreviewErrors    bool   // show exceptions
	AccessLog        string // path; "" for none
	AccessLogFormat  string // "json" or "combined"
	Compression      bool
	Clients          Clients

	DataDir         string
	RegistryDB      string
	RecoveryKey     svc.Secret    // "" for the generated one
	SecretsKey      *keyring.Ring // nil for none
	S3              S3
	EmbeddedS3Addr  string // "" for none
	ArtifactsBucket string
	RuntimeBucket   string
	RuntimePrefix   string // "" or "prefix/"
	BranchStore     BranchStore
	Durability      string // "async" or "sync"
	SyncWindow      time.Duration
	LeaseTTL        time.Duration
	GCGrace         time.Duration
	GCEvery         time.Duration
	History         svc.History
	ArtifactsDir    string

	OrchWorkers        int
	QueueMax           int
	Lenient            bool
	Elastic            bool
	Forks              svc.ForkPolicy
	ScrubSQL           string // text of the file; "" for none
	Archive            Archive
	Release            Release
	KeepFailed         svc.Keep
	KeepArchived       svc.Keep
	Sleep              Sleep
	PageOut            PageOut
	RecycleMB          int // memory of an idle version above which it gets new processes; 0 for never
	ArtifactWait       time.Duration
	Limits             Limits
	Workerd            string
	WorkerHeapMB       int
	Hosts              Hosts
	Kubernetes         Kubernetes
	RegistrySync       bool // the API waits for the copy of the registry
	SpareHosts         int  // 0 for none
	AllowRoot          bool
	WorkerConfine      svc.Confine
	Isolates           bool          // each workerd has a uid of its own
	IsolationUIDs      svc.Isolation // from which
	WorkerMemoryMB     int           // 0 for no limit
	WorkerMemoryMaxMB  int           // 0 for any
	WorkerSubrequests  int           // of one invocation; 0 for no limit
	VersionDiskMB      int           // 0 for no limit
	MaxQueueMessages   int           // of one queue; 0 for no limit
	WorkerStartTimeout time.Duration
	WorkerStartCPU     time.Duration
	WorkerNetwork      svc.NetworkPolicy
	Backends           svc.Backends // hold secrets
	CacheSize          int64        // bytes; 0 for no cache
	LogLevel           slog.Level
	Traces             Traces
	LogFormat          string

	InEffect []svc.SettingValue // every setting, for people

	Environment Environment // what the daemon needs of its own environment
}

// HostPattern is the form of preview hosts, for people.
func (d *Daemon) HostPattern() string {
	in, err := d.ingress()
	if err != nil {
		return "" // LoadDaemon has refused it
	}
	return in.HostPattern()
}

func (d *Daemon) ingress() (*svc.Ingress, error) {
	return svc.NewIngress(svc.IngressConfig{BaseDomain: d.BaseDomain, SchemePreview: d.SchemePreview, Template: d.PreviewTemplate})
}

// Isolation are the uids for workerd; zero if it has that of the server.
func (d *Daemon) Isolation() svc.Isolation {
	if !d.Isolates {
		return svc.Isolation{}
	}
	return d.IsolationUIDs
}

// S3 is an external object store; an empty endpoint means the embedded one.
type S3 struct {
	Endpoint  string
	AccessKey string
	SecretKey svc.Secret
	Region    string
}

// BranchStore says where the records of branches are kept: in Bucket below Prefix
// ("" or "prefix/") of the same object store, or in the directory Dir. The zero
// value is beside the data they are about.
type BranchStore struct {
	Bucket string
	Prefix string
	Dir    string // absolute
}

// Clients limits slow clients and the number of connections.
type Clients struct {
	Timeout    time.Duration
	Total      int
	PerClient  int
	PerVersion int
	API        int
}

// Archive says when versions are archived, and which stay for a rollback [D24].
type Archive struct {
	Idle         time.Duration // 0 for never
	Grace        time.Duration
	Reaper       bool // false for no idle archiving
	RollbackKeep int
}

// Release limits the hold of a release.
type Release struct {
	Hold  time.Duration // of the whole
	Drain time.Duration // for requests and events in flight
}

// PageOut says when the memory of versions is moved to swap.
type PageOut struct {
	Idle time.Duration // 0 for never
	Auto bool          // only where the machine has swap
}

// Sleep says when ready versions have no processes.
type Sleep struct {
	Idle       time.Duration // without use; 0 for never
	Production bool          // production, too
}

// IdleAfter is the time without use after which a version is archived; 0 for never.
func (a Archive) IdleAfter() time.Duration {
	if !a.Reaper {
		return 0
	}
	return a.Idle
}

// Limits bound a bundle [D42], in bytes and files.
type Limits struct {
	Modules int64
	Asset   int64
	Total   int64
	Files   int
}

// Environment is the part of the process environment that children and the
// search for workerd need.
type Environment struct {
	Path      string // PATH
	Home      string
	CacheDir  string // $XDG_CACHE_HOME/svcctl
	Temporary string // TMPDIR
	Race      string // GORACE, for a build that has the race detector
}

// OnLoopback reports whether only this machine reaches the ports.
func (d *Daemon) OnLoopback() bool { return isLoopback(d.ListenHost) }
