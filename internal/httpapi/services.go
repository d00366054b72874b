package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Projects are the records of projects.
type Projects interface {
	CreateProject(ctx context.Context, p svc.Project) (stored svc.Project, created bool, err error)
	Project(ctx context.Context, id string) (svc.Project, error)
	ListProjects(ctx context.Context, p svc.PageRequest) (svc.Page[svc.Project], error)
}

// Versions are the records of versions.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
	ListVersions(ctx context.Context, project string, status svc.Status, p svc.PageRequest) (svc.Page[svc.Version], error)
}

// Promotions are the records of promotions.
type Promotions interface {
	Promotion(ctx context.Context, project, id string) (svc.Promotion, error)
	ListPromotions(ctx context.Context, project string, p svc.PageRequest) (svc.Page[svc.Promotion], error)
}

// Deployer accepts new versions. It checks them; the API checks only the form.
type Deployer interface {
	Submit(ctx context.Context, n svc.NewVersion, o SubmitOptions) (svc.Version, error)
}

// SubmitOptions make a create-version repeatable.
type SubmitOptions struct {
	IdempotencyKey string // "" for none
	BodyHash       string // of project and body: equal requests have equal ones
}

// Promoter starts promotions.
type Promoter interface {
	Promote(ctx context.Context, ref svc.Ref, p PromoteRequest) (svc.Promotion, error)
}

// PromoteRequest is the body of promote [D19].
type PromoteRequest struct {
	ExpectedProd *string // nil expects nothing, "" expects no production
	Reason       string
}

// Lifecycle takes versions out of service and back.
type Lifecycle interface {
	Archive(ctx context.Context, ref svc.Ref) (svc.Version, error)
	// Wake returns a version that does not serve when that takes long.
	Wake(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error)
	SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error)
}

// Uploads are the one-time upload addresses of [D11].
type Uploads interface {
	// Issue makes an address for ref's bundle. A URL that begins with "/" is a
	// path of this API.
	Issue(ctx context.Context, ref svc.Ref) (svc.Upload, error)
	// Accept stores a bundle sent to an address of this API. size is -1 when
	// unknown. Expired: Forbidden; used: Conflict.
	Accept(ctx context.Context, ticket string, bundle io.Reader, size int64) (svc.Receipt, error)
}

// Logs are what workers wrote.
type Logs interface {
	// Tail gives the last n lines of a version, oldest first.
	Tail(ctx context.Context, ref svc.Ref, n int) ([]LogLine, error)
}

// LogLine is one console line or exception.
type LogLine struct {
	Time    time.Time
	Level   string
	Message string
	Source  string
}

// Data reaches the data of versions that serve [D32].
type Data interface {
	// Data sends r, whose path begins below the version's, to the runtime of the
	// version. The caller closes the answer's body; a refusal is an error.
	Data(ref svc.Ref, r *http.Request) (*http.Response, error)
}

// Routes are the hosts of the gateway.
type Routes interface {
	Routes() []Route
}

// Route is one host and what is behind it [D30].
type Route struct {
	Host          string
	Role          svc.Role
	Ref           svc.Ref
	Upstream      string
	State         string
	PID           int
	Inflight      int64
	Websockets    int64
	StartedAt     time.Time // zero without a runtime
	LastRequestAt time.Time // zero before the first
	RSSBytes      int64
}

// Pinger is a part whose health can be asked for.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Queue is the deploy queue.
type Queue interface {
	QueueDepth(ctx context.Context) (int, error)
}

// Observer counts requests: svc_http_requests_total [D31]. route is the pattern
// of the path, so the number of series is bounded.
type Observer interface {
	HTTPRequest(route, method string, code int)
}
