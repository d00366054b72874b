package deploy

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// MaxAttempts is how often a deploy may be begun before it counts as failed [D25].
const MaxAttempts = 3

// The defaults of Deps.
const (
	DefaultArtifactWait = 60 * time.Second // SVC_ARTIFACT_WAIT [D41]
	DefaultStepLimit    = 10 * time.Minute
	DefaultDiscardLimit = 30 * time.Second // the worker that a deploy failed in waits for it
	restoreParallel     = 2
)

// Versions is the part of the registry that holds versions.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error)
	SetArtifact(ctx context.Context, ref svc.Ref, digest string, size int64) error
	SetForkTXID(ctx context.Context, ref svc.Ref, txid string) error
	MarkScrub(ctx context.Context, ref svc.Ref) error
	AddWarning(ctx context.Context, ref svc.Ref, text string) error
}

// Inventory lists versions of all projects, productions first.
type Inventory interface {
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
}

// Submissions is where accepted versions are written, with their jobs, in one
// transaction.
type Submissions interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	CreateVersion(ctx context.Context, n svc.NewVersion, o CreateOptions) (v svc.Version, created bool, err error)
}

// CreateOptions is what CreateVersion needs beside the version.
type CreateOptions struct {
	QueueMax       int            // SVC_QUEUE_MAX
	IdempotencyKey string         // "" for none [D9]
	BodyHash       string         // of the request that carried the key
	Forks          svc.ForkPolicy // says which versions may be parents [D23]
}

// Branches gives versions their parents' data.
type Branches interface {
	// Fork makes child's data begin as parent's is at this moment. id names the
	// attempt: with the same id again, also after a crash, it gives what the first
	// one made.
	Fork(ctx context.Context, parent, child svc.Ref, id string) (Forked, error)
	// Discard removes what a failed version has stored. Idempotent.
	Discard(ctx context.Context, ref svc.Ref) error
}

// Forked is what a fork made.
type Forked struct {
	TXID   string // the database branch cut, for the version's record: "" when the parent had no store
	Stores int
	Warm   string // opaque: lets the child's runtime start from files of the parent on this machine; "" when it cannot
}

// Runtimes starts and stops the processes of versions. Every method is
// idempotent. Prepare and Serve need a version that was opened.
type Runtimes interface {
	Open(ctx context.Context, spec RuntimeSpec) error
	Prepare(ctx context.Context, ref svc.Ref) (Prepared, error)
	Serve(ctx context.Context, ref svc.Ref) (Endpoint, error)
	StopVersion(ctx context.Context, ref svc.Ref) error
}

// Prepared says what was done to a version's data now.
type Prepared struct {
	Seeded  []string // seeds that were imported, as "<binding> from <path>", and behind it " (left out: <why>)" if one was not
	Applied []string // migrations, as "<binding>/<name>"
}

// RuntimeSpec is what the runtime of a version is started with.
type RuntimeSpec struct {
	Ref       svc.Ref
	BundleDir string
	DataDir   string
	LogDir    string
	Env       map[string]string // the overrides
	CreatedAt time.Time
	Tag       string    // git_ref, for the version metadata binding
	Parent    string    // version id, "" for a root version
	Warm      string    // Forked.Warm, in the deploy that forked it; else ""
	Scrub     svc.Scrub // what Prepare does to each database before it migrates
}

// Endpoint is where a running version answers.
type Endpoint struct {
	Socket     string // unix path of the worker
	Port       int    // on 127.0.0.1
	PID        int    // of the host
	WorkerdPID int
	StartedAt  time.Time
}

// RuntimeState is how a runtime stands, in the supervisor's words.
type RuntimeState string

// The states of a runtime.
const (
	RuntimeStarting RuntimeState = "starting"
	RuntimeServing  RuntimeState = "serving"
	RuntimeBackoff  RuntimeState = "backoff" // it died and will be started again
	RuntimeCrashed  RuntimeState = "crashed" // it will not
	RuntimeStopped  RuntimeState = "stopped"
)

// Gateway routes user traffic.
type Gateway interface {
	// SetVersion says what is known about a version. A status that does not
	// serve, with a socket, is reachable by the verify probe alone.
	SetVersion(ref svc.Ref, r Route)
	// RemoveVersion makes a version's hosts unknown.
	RemoveVersion(ref svc.Ref)
	SetProduction(project, version string)
}

// Route is a version as the gateway sees it.
type Route struct {
	Status   svc.Status
	Starting bool // it serves, and its runtime is on its way (again)
	Endpoint      // zero while no runtime listens
}

// Production assigns the first ready version of a project.
type Production interface {
	// HoldFirst has requests to a production host that leads nowhere yet wait.
	HoldFirst(ctx context.Context, project string) (release func())
	AssignFirst(ctx context.Context, ref svc.Ref) error
}

// Observer counts, for metrics. Its methods return at once.
type Observer interface {
	StepDone(step string, seconds float64)
	StepTolerated(step string) // lenient mode went over a failure [D47]
	DeployDone(result string)  // "ready" or "failed"
}

// Verify is the probe after a deploy. An empty URL turns it off.
type Verify struct {
	URL    string     // SVC_GATEWAY_VERIFY_URL, the base
	Header string     // in which the gateway expects the secret
	Secret svc.Secret // lets the probe through to a version that is not ready
}

// Dirs are directories of the daemon; each holds {project}/{version}.
type Dirs struct {
	Cache string // unpacked bundles; may be emptied while the daemon is down
	Data  string
	Logs  string
}

// Deps is everything a Service works with.
type Deps struct {
	Versions    Versions
	Inventory   Inventory
	Submissions Submissions
	Runtimes    Runtimes
	Branches    Branches
	Gateway     Gateway
	Production  Production
	Artifacts   objstore.Bucket // SVC_ARTIFACTS_BUCKET
	Ingress     *svc.Ingress
	Logger      *slog.Logger
	Notify      func()       // wakes the job workers
	Observer    Observer     // nil: nobody counts
	HTTP        *http.Client // for the probe; only with Verify

	Dirs         Dirs
	ArtifactsDir string        // ARTIFACTS_DIR, "" for none [D43]
	ArtifactWait time.Duration // 0: DefaultArtifactWait
	StepLimit    time.Duration // for one step, waiting for the bundle apart; 0: DefaultStepLimit
	DiscardLimit time.Duration // for removing what a failed version has stored; 0: DefaultDiscardLimit
	StartPause   time.Duration // before Restore tries again, doubling to 30 s; 0: 1 s
	Limits       bundle.Limits // [D42]
	QueueMax     int           // SVC_QUEUE_MAX
	Lenient      bool          // SVC_LENIENT_DEPLOY
	Forks        svc.ForkPolicy
	ScrubSQL     string // text of SVC_SCRUB_SQL; "" for none
	Verify       Verify
}

// Service accepts, deploys and restores versions.
type Service struct {
	deps    Deps
	log     *slog.Logger
	routes  *routes
	bundles *bundles
	works   *works
	probe   *probe // nil: none
	restore restoreList
}

// New checks deps. It starts nothing and touches no file.
func New(deps Deps) (*Service, error) {
	if err := deps.check(); err != nil {
		return nil, err
	}
	if deps.ArtifactWait <= 0 {
		deps.ArtifactWait = DefaultArtifactWait
	}
	if deps.StartPause <= 0 {
		deps.StartPause = time.Second
	}
	if deps.StepLimit <= 0 {
		deps.StepLimit = DefaultStepLimit
	}
	if deps.DiscardLimit <= 0 {
		deps.DiscardLimit = DefaultDiscardLimit
	}
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	s := &Service{deps: deps, log: deps.Logger, routes: newRoutes(deps.Gateway), bundles: newBundles(deps), works: newWorks()}
	if deps.Verify.URL != "" {
		s.probe = newProbe(deps)
	}
	return s, nil
}

func (d Deps) check() error {
	switch {
	case d.Versions == nil || d.Inventory == nil || d.Submissions == nil:
		return errors.New("deploy: no registry")
	case d.Runtimes == nil || d.Branches == nil || d.Gateway == nil || d.Production == nil:
		return errors.New("deploy: runtimes, branches, gateway and production are needed")
	case d.Artifacts == nil || d.Ingress == nil || d.Logger == nil || d.Notify == nil:
		return errors.New("deploy: artifacts, ingress, logger and notify are needed")
	case d.Dirs.Cache == "" || d.Dirs.Data == "" || d.Dirs.Logs == "":
		return errors.New("deploy: cache, data and log directories are needed")
	}
	return d.Verify.check(d.HTTP)
}

func (v Verify) check(client *http.Client) error {
	if v.URL == "" {
		return nil
	}
	u, err := url.Parse(v.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("deploy: the verify URL must be http or https, with a host")
	case v.Header == "" || v.Secret == "" || client == nil:
		return errors.New("deploy: verifying needs a header, a secret and a client")
	}
	return nil
}

// AlmostReady has requests to a version wait while somebody else moves it to
// ready, so that whoever sees it ready is served. over tells that the move ended.
func (s *Service) AlmostReady(ref svc.Ref) (over func()) { return s.routes.almostReady(ref) }

// StatusChanged tells the routes that somebody else moved a version's status.
// Versions that were never announced are not routed.
func (s *Service) StatusChanged(ref svc.Ref, status svc.Status) { s.routes.changed(ref, status) }

// RuntimeChanged tells the routes how a version's runtime stands. Calls for one
// version must be in order. It calls the gateway and nobody else.
func (s *Service) RuntimeChanged(ref svc.Ref, state RuntimeState, e Endpoint) {
	s.routes.setRuntime(ref, state, e)
}

// ArtifactArrived wakes the deploy of ref if it waits for its bundle [D41].
func (s *Service) ArtifactArrived(ref svc.Ref) { s.bundles.arrived(ref) }

type noObserver struct{}

func (noObserver) StepDone(string, float64) {}
func (noObserver) StepTolerated(string)     {}
func (noObserver) DeployDone(string)        {}
