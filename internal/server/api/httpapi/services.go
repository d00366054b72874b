package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Projects reads, creates and changes projects.
type Projects interface {
	CreateProject(ctx context.Context, p svc.Project) (stored svc.Project, created bool, err error)
	Project(ctx context.Context, id string) (svc.Project, error)
	ListProjects(ctx context.Context, p svc.PageRequest) (svc.Page[svc.Project], error)
	ChangeProject(ctx context.Context, id string, c svc.ProjectChange) (svc.Project, error)
}

// Previews reads and deletes previews.
type Previews interface {
	ListPreviews(ctx context.Context, project string, p svc.PageRequest) (svc.Page[svc.Preview], error)
	Preview(ctx context.Context, project, name string) (svc.Preview, error)
	// Delete destroys every version of a preview and returns the preview as it was.
	Delete(ctx context.Context, project, name string) (svc.Preview, error)
}

// Overview reads what the whole server has.
type Overview interface {
	SearchVersions(ctx context.Context, f svc.VersionFilter, p svc.PageRequest) (svc.Page[svc.Version], error)
	Jobs(ctx context.Context) ([]svc.QueuedJob, error)
	// Tree returns all versions of a project, oldest first, with the fields of svc.Branch.
	Tree(ctx context.Context, project string) ([]svc.Version, error)
	// Summaries returns what is known about the versions of projects, by their ids.
	Summaries(ctx context.Context, projects []string) (map[string]svc.ProjectSummary, error)
}

// Certificates lists the certificates of https.
type Certificates interface {
	Certificates(context.Context) ([]svc.Certificate, error)
	CertificateOrders() []svc.CertificateOrder
}

// Machines lists the machines that run versions.
type Machines interface {
	Machines() []svc.Node
}

// Gateways lists what serves visitors.
type Gateways interface {
	Gateways() []svc.Gateway
}

// Checkup checks the installation.
type Checkup interface {
	Run(context.Context) ([]svc.Finding, error)
}

// State reads where the server keeps its data.
type State interface {
	State(context.Context) (svc.ServerState, error)
}

// Leases reads who owns the data of versions.
type Leases interface {
	// Nodes returns all nodes of the object store. ttl is how long a lease is valid; 0 without leases.
	Nodes(ctx context.Context) (list []svc.NodeLease, ttl time.Duration, err error)
	// Owners returns the owners of the data of versions, in their order.
	Owners(ctx context.Context, versions []svc.Ref) ([]svc.DataOwner, error)
}

// Traffic summarizes the requests of the last minutes.
type Traffic interface {
	Summary(window time.Duration) svc.TrafficSummary
}

// Versions reads versions.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	ListVersions(ctx context.Context, project string, status svc.Status, p svc.PageRequest) (svc.Page[svc.Version], error)
}

// Environments reads the environments of versions.
type Environments interface {
	// Environment returns Gone for a destroyed version.
	Environment(ctx context.Context, ref svc.Ref) (svc.Environment, error)
}

// Promotions reads promotions.
type Promotions interface {
	Promotion(ctx context.Context, project, id string) (svc.Promotion, error)
	ListPromotions(ctx context.Context, project string, p svc.PageRequest) (svc.Page[svc.Promotion], error)
}

// Deployer creates versions. It checks them; the API checks only the form.
type Deployer interface {
	Submit(ctx context.Context, n svc.NewVersion, o svc.SubmitOptions) (svc.Version, error)
}

// Promoter starts promotions and releases.
type Promoter interface {
	Promote(ctx context.Context, ref svc.Ref, p svc.PromoteRequest) (svc.Promotion, error)
	Release(ctx context.Context, candidate svc.Ref, r svc.ReleaseRequest) (svc.Promotion, error)
}

// Plans says what versions wrote that others lack, and promotes would leave behind.
type Plans interface {
	Plan(ctx context.Context, ref svc.Ref) (svc.PromotionPlan, error)
	// ReleasePlan returns what a release of a candidate would do.
	ReleasePlan(ctx context.Context, candidate svc.Ref) (svc.ReleasePlan, error)
	// Compare returns what each of two versions of a project wrote that the other lacks.
	Compare(ctx context.Context, from, to svc.Ref) (ofFrom, ofTo svc.Unmerged, err error)
	// Export passes the records of an export to emit. The export is complete if it returns
	// nil.
	Export(ctx context.Context, o svc.DataExport, emit func(svc.ExportRecord) error) error
	// Diff passes what differs between the data of two versions in the same way.
	Diff(ctx context.Context, o svc.DataDiff, emit func(svc.ExportRecord) error) error
}

// Lifecycle archives, wakes, destroys and pins versions.
type Lifecycle interface {
	Archive(ctx context.Context, ref svc.Ref) (svc.Version, error)
	// Wake returns a version with status deploying if the wake takes long.
	Wake(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error)
	SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error)
	// SetEnv replaces the overrides of a version and restarts it if it serves.
	SetEnv(ctx context.Context, ref svc.Ref, c svc.EnvChange) (svc.Environment, error)
}

// Uploads issues and accepts the one-time upload addresses of [D11].
type Uploads interface {
	// Issue returns an address for ref's bundle. A URL that begins with "/" is a path
	// of this API.
	Issue(ctx context.Context, ref svc.Ref) (svc.Upload, error)
	// Accept stores a bundle sent to an address of this API. size is -1 if unknown. It
	// returns Forbidden for an expired address, Conflict for a used one.
	Accept(ctx context.Context, ticket string, body io.Reader, size int64) (svc.Receipt, error)
	// Announce returns the hashes of the static files that are missing.
	Announce(ctx context.Context, ticket string, files []bundle.File) (missing []string, err error)
	// AcceptAssets stores an archive of announced files.
	AcceptAssets(ctx context.Context, ticket string, archive io.Reader) (svc.AssetsReceipt, error)
}

// Logs reads the logs of versions.
type Logs interface {
	// Read returns a part of the log of a version. It returns BadRequest for a query that
	// cannot be meant.
	Read(ctx context.Context, ref svc.Ref, q svc.LogQuery) (svc.LogPage, error)
	// Follow passes the entries that Read returns to emit, and each later one, until ctx
	// ends or emit, idle or target returns an error, which it returns. target says which
	// version to follow; idle is called when there is no new entry.
	Follow(ctx context.Context, target func(context.Context) (svc.Ref, error), q svc.LogQuery, emit func(svc.LogEntry) error, idle func() error) error
}

// Data forwards requests to the data of versions that serve [D32].
type Data interface {
	// Data sends r, whose path is relative to the version's, to the runtime of the
	// version. The caller closes the body of the response; an error response is an
	// error.
	Data(ref svc.Ref, r *http.Request) (*http.Response, error)
}

// Events sends events to the workers of versions that serve.
type Events interface {
	// Dispatch sends an event to the worker of a version and waits until it ends. An
	// error means that the worker did not receive the event.
	Dispatch(ctx context.Context, ref svc.Ref, e svc.Event) (svc.EventResult, error)
}

// Feed reads what happened on the server.
type Feed interface {
	// Read returns a page. It returns BadRequest for a cursor that is none, and Gone for
	// one after which events are no longer kept.
	Read(ctx context.Context, q svc.FeedQuery) (svc.FeedPage, error)
	// Follow passes the events that Read returns to emit, and each later one, until ctx
	// ends or emit returns an error, which it returns. emit is called without events at
	// the begin and after each idle.
	Follow(ctx context.Context, q svc.FeedQuery, idle time.Duration, emit func(svc.FeedPage) error) error
}

// Routes lists the routes of the gateway.
type Routes interface {
	Routes() []svc.Route
}

// Runtimes describes the runtimes of versions. Its methods do no I/O.
type Runtimes interface {
	// Runtime returns false for a version without a runtime. Memory is not measured.
	Runtime(ref svc.Ref) (svc.Runtime, bool)
	// NotServing returns the versions whose status serves and whose runtime does not.
	NotServing() []svc.Ref
}

// Pinger is a component with a health check.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Queue reports the length of the deploy queue.
type Queue interface {
	QueueDepth(ctx context.Context) (int, error)
}

// Observer counts requests: svc_http_requests_total [D31]. route is the pattern
// of the path, so the number of series is bounded.
type Observer interface {
	HTTPRequest(route, method string, code int)
}

// Pages serves browsers: requests for which Serves is true, which are never below /v1.
type Pages interface {
	Serves(r *http.Request) bool
	// Ticket returns the path of a page that begins a session with a token, once, until expiry.
	Ticket(token svc.Secret) (path string, expiry time.Time)
	http.Handler
}
