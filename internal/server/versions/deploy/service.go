package deploy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/svc"
)

// MaxAttempts is the number of attempts after which a deploy fails [D25].
const MaxAttempts = 3

// The defaults of Deps.
const (
	DefaultArtifactWait = 60 * time.Second // SVC_ARTIFACT_WAIT [D41]
	DefaultStepLimit    = 10 * time.Minute
	DefaultCleanupLimit = 30 * time.Second // a worker of the deploy queue waits for the cleanup
	DefaultRestores     = 2
)

// Versions reads and changes versions in the registry.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error)
	SetArtifact(ctx context.Context, ref svc.Ref, digest string, size int64) error
	SetBundleEnv(ctx context.Context, ref svc.Ref, vars map[string]string) error
	SetForkTXID(ctx context.Context, ref svc.Ref, txid string) error
	MarkScrub(ctx context.Context, ref svc.Ref) error
	// SetMigrated records which migrations were applied, if any.
	SetMigrated(ctx context.Context, ref svc.Ref, m svc.Migrated) error
	AddWarning(ctx context.Context, ref svc.Ref, text string) error
	// SetAsleep records since when a version sleeps, and when it must run for its own
	// work. Zero times record that it does not.
	SetAsleep(ctx context.Context, ref svc.Ref, at, wake time.Time) error
}

// Inventory lists versions of all projects, productions first.
type Inventory interface {
	VersionsByStatus(ctx context.Context, statuses ...svc.Status) ([]svc.Version, error)
	// ReadOnlyProjects returns the ids of the projects that are read-only.
	ReadOnlyProjects(ctx context.Context) ([]string, error)
}

// Submissions writes accepted versions and their jobs, in one transaction.
type Submissions interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	CreateVersion(ctx context.Context, n svc.NewVersion, o svc.CreateOptions) (v svc.Version, created bool, err error)
}

// Branches forks and destroys the data of versions.
type Branches interface {
	// Fork forks the data of parent at its newest position. It is idempotent: a
	// repeat with the same id returns the first result, also after a crash.
	Fork(ctx context.Context, parent, child svc.Ref, id string) (svc.Forked, error)
	// ForkAt is Fork at a cut that the caller has made.
	ForkAt(ctx context.Context, parent, child svc.Ref, id string, cut branch.VersionCut) (svc.Forked, error)
	// ForkPast is Fork at the newest point of the parent's past at or before a time.
	ForkPast(ctx context.Context, parent, child svc.Ref, id string, t time.Time) (svc.Forked, error)
	// Destroy deletes the data of a failed version. Idempotent.
	Destroy(ctx context.Context, ref svc.Ref) error
}

// Runtimes starts and stops the runtimes of versions. Its methods are idempotent.
// Prepare and Serve require a prior Open.
type Runtimes interface {
	// Stage is all of Open that needs no data.
	Stage(ctx context.Context, spec svc.RuntimeSpec) error
	Open(ctx context.Context, spec svc.RuntimeSpec) error
	Prepare(ctx context.Context, ref svc.Ref) (svc.Prepared, error)
	Serve(ctx context.Context, ref svc.Ref) (svc.Endpoint, error)
	StopVersion(ctx context.Context, ref svc.Ref) error
	// Restart restarts a version whose start failed with cause, until it serves or is
	// stopped. The error is Conflict, runtime_not_open, if no start was tried.
	Restart(ctx context.Context, ref svc.Ref, cause error) error
	// Revive returns nil when the version serves; a runtime that waits after a crash
	// starts now. Errors: Conflict, version_not_serving or runtime_not_open.
	Revive(ctx context.Context, ref svc.Ref) error
	// Sleep stops a runtime that serves, and returns when the version must run next.
	Sleep(ctx context.Context, ref svc.Ref) (svc.Wake, error)
	// Retire is Sleep that ends what still runs.
	Retire(ctx context.Context, ref svc.Ref) error
	// Positions returns where the data of an open version begins.
	Positions(ctx context.Context, ref svc.Ref) (control.Positions, error)
	// ShowFiles has the worker of a version read the static files of another bundle.
	ShowFiles(ctx context.Context, ref svc.Ref, bundleDir string) error
}

// Gateway routes the requests of users.
type Gateway interface {
	// SetVersion sets the upstream of a version.
	SetVersion(ref svc.Ref, r svc.Upstream)
	// RemoveVersion removes the routes of a version.
	RemoveVersion(ref svc.Ref)
	SetProduction(project, version string)
	// DrainVersion waits for the requests in flight of the runtimes that SetVersion
	// retired.
	DrainVersion(ctx context.Context, ref svc.Ref) error
	// LastRequest returns when the last request to a version began, the zero time for none.
	LastRequest(ref svc.Ref) time.Time
}

// Production assigns the first ready version of a project.
type Production interface {
	// HoldFirst makes requests to a production host name without a version wait.
	HoldFirst(ctx context.Context, project string) (release func())
	AssignFirst(ctx context.Context, ref svc.Ref) error
}

// Previews moves the host names of preview names.
type Previews interface {
	// Hold makes the requests to a name wait until release.
	Hold(project, name string) (release func())
	// Publish routes a name to its newest version that has been ready. Idempotent.
	Publish(ctx context.Context, project, name string) error
	// Switched archives the versions that were replaced. It does not block.
	Switched(ctx context.Context)
}

// Callees are the workers that other workers call: calls.Callees.
type Callees interface {
	// Check returns the error of a manifest whose worker calls one that does not exist.
	Check(ctx context.Context, caller svc.Ref, m *bundle.Manifest) error
	// ObjectKeys returns svc.RuntimeSpec.ObjectKeys.
	ObjectKeys(ctx context.Context, caller svc.Ref, m *bundle.Manifest) (map[string]string, error)
}

// Secrets opens the sealed secrets of projects: secrets.Service.
type Secrets interface {
	// Of returns the secrets that a version starts with now, by name; none without secrets. Its error is
	// Unavailable, secret_unreadable, if one of them does not open.
	Of(ctx context.Context, v svc.Version) (map[string]string, error)
}

// Assets keeps the static files that bundles leave out: assetstore.Store.
type Assets interface {
	// Fill puts the files of a version below dir. It returns Unavailable,
	// artifact_unreadable, if the object store fails.
	Fill(ctx context.Context, ref svc.Ref, m bundle.Manifest, dir string) error
	// Keep records the files of earlier versions that a version serves beside its own; from is the
	// unpacked bundle with those that the object store lacks. Kept returns them, and FillKept puts
	// them below dir.
	Keep(ctx context.Context, ref svc.Ref, kept bundle.Kept, from string) error
	Kept(ctx context.Context, ref svc.Ref) (bundle.Kept, error)
	FillKept(ctx context.Context, ref svc.Ref, dir string) error
	// Prune deletes the files on disk that no unpacked bundle has.
	Prune(ctx context.Context, project string) error
}

// Observer counts, for metrics. Its methods do not block.
type Observer interface {
	StepDone(step string, took time.Duration)
	StepTolerated(step string)    // lenient mode continued after a failure [D47]
	DeployDone(result string)     // "ready" or "failed"
	RouseDone(took time.Duration) // a version that slept serves again
}

// Traces records deploys and their steps. Its methods do not block.
type Traces interface {
	// StepEnded is called for each step, with the error of one that failed.
	StepEnded(v svc.Version, step string, began time.Time, err error)
	// DeployEnded is called at the end of a deploy: result is "ready" or "failed".
	DeployEnded(v svc.Version, result string)
}

// Verify is the probe after a deploy. An empty URL turns it off.
type Verify struct {
	URL    string     // SVC_GATEWAY_VERIFY_URL
	Header string     // header that carries Secret
	Secret svc.Secret // lets the probe reach a version that is not ready
}

// Qualify is the probe of the step deploy_ready (SVC_ELASTIC_RUNTIME): it asks the
// worker as production, before the version is ready. An empty URL turns the step off.
type Qualify struct {
	Verify
	RouteHeader string // header that names the version, whatever the host
}

// Dirs are directories of the daemon; each holds {project}/{version}.
type Dirs struct {
	Cache string // unpacked bundles; may be deleted while the daemon is stopped
	Data  string
	Logs  string
}

// Deps are the dependencies and settings of a Service.
type Deps struct {
	Versions    Versions
	Inventory   Inventory
	Submissions Submissions
	Runtimes    Runtimes
	Branches    Branches
	Gateway     Gateway
	Production  Production
	Previews    Previews        // nil: the host names of preview names are not routed
	Callees     Callees         // nil: they are not checked
	Secrets     Secrets         // nil: no version has secrets
	Artifacts   objstore.Bucket // SVC_ARTIFACTS_BUCKET
	BundleKeys  bundleKeys      // bundle.Keys
	Assets      Assets
	Ingress     *svc.Ingress
	Logger      *slog.Logger
	Notify      func()       // wakes the workers of the deploy queue
	Observer    Observer     // nil: no counting
	Traces      Traces       // nil: no traces
	HTTP        *http.Client // for the probe; only with Verify

	Dirs         Dirs
	History      bool          // SVC_HISTORY is not off
	ArtifactsDir string        // ARTIFACTS_DIR, "" for none [D43]
	ArtifactWait time.Duration // 0: DefaultArtifactWait
	StepLimit    time.Duration // for one step, without the wait for the bundle; 0: DefaultStepLimit
	CleanupLimit time.Duration // for the cleanup of a failed version; 0: DefaultCleanupLimit
	StartPause   time.Duration // before Restore tries again, doubling to 30 s; 0: 1 s
	Restores     int           // versions that Restore starts at a time; 0: DefaultRestores
	Limits       bundle.Limits // [D42]
	QueueMax     int           // SVC_QUEUE_MAX
	Sleep        Sleep
	Lenient      bool // SVC_LENIENT_DEPLOY
	NoSync       bool // bundles are unpacked without waiting for the disk: for watch mode, and a cache that does not outlive the process
	Forks        svc.ForkPolicy
	ScrubSQL     string // text of SVC_SCRUB_SQL; "" for none
	Verify       Verify
	Qualify      Qualify
	Check        Qualify // asks a version that a release makes
}

// Service accepts, deploys and restores versions.
type Service struct {
	deps    Deps
	log     *slog.Logger
	made    time.Time
	routes  *routes
	bundles *bundles
	locks   keyed.Mutex[svc.Ref] // held by the deploy or start of a version
	probe   *probe               // nil: no probe
	qualify *probe               // nil: no step deploy_ready
	check   *probe               // of releases; nil without HTTP
	restore restoreList
	began   beginnings

	readOnly sync.Mutex // held while read-only projects are read and published
}

// New returns a Service, or an error if a dependency is missing. It starts nothing
// and does no I/O.
func New(deps Deps) (*Service, error) {
	if err := deps.check(); err != nil {
		return nil, err
	}
	deps.ArtifactWait = cmp.Or(deps.ArtifactWait, DefaultArtifactWait)
	deps.StartPause = cmp.Or(deps.StartPause, time.Second)
	deps.Restores = cmp.Or(deps.Restores, DefaultRestores)
	deps.StepLimit = cmp.Or(deps.StepLimit, DefaultStepLimit)
	deps.CleanupLimit = cmp.Or(deps.CleanupLimit, DefaultCleanupLimit)
	if deps.Observer == nil {
		deps.Observer = noObserver{}
	}
	if deps.Traces == nil {
		deps.Traces = noTraces{}
	}
	if deps.Previews == nil {
		deps.Previews = noPreviews{}
	}
	if deps.Secrets == nil {
		deps.Secrets = noSecrets{}
	}
	bundles := newBundles(deps)
	s := &Service{deps: deps, log: deps.Logger, made: time.Now(), routes: newRoutes(deps.Gateway, bundles.path), bundles: bundles}
	if deps.Verify.URL != "" {
		s.probe = newProbe(deps, deps.Verify)
	}
	if deps.Qualify.URL != "" {
		s.qualify = newProbe(deps, deps.Qualify.Verify)
		s.qualify.route = deps.Qualify.RouteHeader
	}
	if deps.Check.URL != "" {
		s.check = newProbe(deps, deps.Check.Verify)
		s.check.route = deps.Check.RouteHeader
	}
	return s, nil
}

func (d Deps) check() error {
	switch {
	case d.Versions == nil || d.Inventory == nil || d.Submissions == nil:
		return errors.New("deploy: registry required")
	case d.Runtimes == nil || d.Branches == nil || d.Gateway == nil || d.Production == nil:
		return errors.New("deploy: runtimes, branches, gateway and production required")
	case d.Artifacts == nil || d.Assets == nil || d.Ingress == nil || d.Logger == nil || d.Notify == nil:
		return errors.New("deploy: artifacts, assets, ingress, logger and notify required")
	case d.Dirs.Cache == "" || d.Dirs.Data == "" || d.Dirs.Logs == "":
		return errors.New("deploy: cache, data and log directories required")
	}
	if d.Qualify.URL != "" && d.Qualify.RouteHeader == "" {
		return errors.New("deploy: qualify requires the header of a route")
	}
	return errors.Join(d.Verify.check(d.HTTP), d.Qualify.check(d.HTTP))
}

func (v Verify) check(client *http.Client) error {
	if v.URL == "" {
		return nil
	}
	u, err := url.Parse(v.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("deploy: verify URL must be http or https, with a host")
	case v.Header == "" || v.Secret == "" || client == nil:
		return errors.New("deploy: verify requires a header, a secret and a client")
	}
	return nil
}

// HoldUntilReady makes requests to a version wait while another service moves it
// to ready: a client that reads the status ready is served. The caller calls
// release when the transition has ended.
func (s *Service) HoldUntilReady(ref svc.Ref) (release func()) { return s.routes.holdUntilReady(ref) }

// HoldForRestart makes requests to a version that serves wait while its runtime is
// restarted on purpose. The caller calls release afterwards.
func (s *Service) HoldForRestart(ref svc.Ref) (release func()) { return s.routes.holdForRestart(ref) }

// StatusChanged reports that another service changed the status of a version.
// Versions that were never announced are not routed.
func (s *Service) StatusChanged(ref svc.Ref, status svc.Status) { s.routes.changed(ref, status) }

// RuntimeChanged reports the state of a version's runtime. Calls for one version
// must be in order. It calls only the gateway.
func (s *Service) RuntimeChanged(now svc.Runtime) { s.routes.setRuntime(now) }

// NotServing returns the versions whose status serves and whose runtime crashed or did
// not start, and has not served since, sorted.
func (s *Service) NotServing() []svc.Ref { return s.routes.notServing() }

// ArtifactArrived wakes the deploy of ref if it waits for its bundle [D41].
func (s *Service) ArtifactArrived(ref svc.Ref) { s.bundles.arrived(ref) }

type noPreviews struct{}

func (noPreviews) Hold(string, string) func()                    { return func() {} }
func (noPreviews) Publish(context.Context, string, string) error { return nil }
func (noPreviews) Switched(context.Context)                      {}

type noSecrets struct{}

func (noSecrets) Of(context.Context, svc.Version) (map[string]string, error) { return nil, nil }

type noTraces struct{}

func (noTraces) StepEnded(svc.Version, string, time.Time, error) {}
func (noTraces) DeployEnded(svc.Version, string)                 {}

type noObserver struct{}

func (noObserver) StepDone(string, time.Duration) {}
func (noObserver) StepTolerated(string)           {}
func (noObserver) DeployDone(string)              {}
func (noObserver) RouseDone(time.Duration)        {}
