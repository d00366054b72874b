package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
)

// Deps are the dependencies and settings of a Server. Those without the tag `optional` are required.
type Deps struct {
	Projects     Projects
	Versions     Versions
	Environments Environments
	Previews     Previews
	Domains      Domains `optional:"true"` // nil without SVC_DOMAINS=on
	Promotions   Promotions
	Bundles      Bundles
	Retention    Retention
	Deployer     Deployer
	Promoter     Promoter
	Plans        Plans
	Audit        Audit
	Lifecycle    Lifecycle
	Secrets      Secrets
	Webhooks     Webhooks
	GC           GC
	Uploads      Uploads
	Logs         Logs
	ServerLog    Logs // the log of the server itself, for the zero Ref

	// History returns how long points of the past of a project are kept. Nil: none are.
	History func(ctx context.Context, project string) (svc.History, error) `optional:"true"`
	// InSources returns a text about a version with places of its sources. Nil changes no text.
	InSources func(svc.Ref, string) string `optional:"true"`
	Leases    Leases
	Data      Data
	// DataPatterns are the operations that Data answers: patterns of http.ServeMux,
	// with a path relative to the version's.
	DataPatterns []string
	Events       Events
	Feed         Feed
	Overview     Overview
	Traffic      Traffic
	State        State
	Checkup      Checkup
	Certificates Certificates
	Machines     Machines
	Gateways     Gateways
	Settings     []svc.SettingValue `optional:"true"` // in effect, for people
	GatewayURL   string             `optional:"true"`
	Routes       Routes
	Runtimes     Runtimes
	Registry     Pinger // for deep health
	Store        Pinger // for deep health
	Queue        Queue
	Metrics      http.Handler // GET /metrics
	Observer     Observer
	Ingress      *svc.Ingress
	Logger       *slog.Logger
	Tokens       Tokens     `optional:"true"` // newAuthenticator checks them
	TicketKey    svc.Secret // signs poll tickets; must not change over restarts
	// Settle waits until all changes of the registry so far survive the loss of this machine.
	// Nil answers changes without that.
	Settle func(context.Context) error `optional:"true"`
	// ReadOnlyChanged applies that a project has become read-only or writable, after the change of its
	// record.
	ReadOnlyChanged func(ctx context.Context, project string) error `optional:"true"`

	Pages     Pages  `optional:"true"` // what browsers see at the port, beside the API
	QueueMax  int    // SVC_QUEUE_MAX
	MaxUpload int64  // bytes of a bundle sent to the API [D42]
	Version   string `optional:"true"` // of the program
	// Client returns the address of a request's client. Nil is the address of the peer.
	Client    func(*http.Request) netip.Addr `optional:"true"`
	PublicURL string                         `optional:"true"` // origin in generated URLs of the API; "" for the one that the client used
	Hosts     []string                       `optional:"true"` // host names of the API in addition to that of PublicURL
}

// versionRoute is the route of a version.
const versionRoute = "/v1/projects/{project}/versions/{version}"

// Server is the handler of the API port.
type Server struct {
	Deps
	auth    authenticator
	streams streams
	mux     *http.ServeMux
	started time.Time
}

// New returns a Server, or an error if a dependency or a token is missing.
func New(d Deps) (*Server, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	auth, err := newAuthenticator(d.Tokens, []byte(d.TicketKey.Reveal()))
	if err != nil {
		return nil, err
	}
	s := &Server{Deps: d, auth: auth, mux: http.NewServeMux(), started: time.Now()}
	strict := oas.NewStrictHandlerWithOptions(handlers{s}, nil, oas.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  s.failRequest,
		ResponseErrorHandlerFunc: s.fail,
	})
	oas.HandlerWithOptions(strict, oas.StdHTTPServerOptions{
		BaseURL: "/v1", BaseRouter: router{s}, ErrorHandlerFunc: s.failRequest,
	})
	router{s}.HandleFunc("PUT /v1/uploads/{ticket}", s.putUpload)
	router{s}.HandleFunc("PUT /v1/uploads/{ticket}/assets", s.putAssets)
	router{s}.HandleFunc("GET /metrics", d.Metrics.ServeHTTP)
	for _, pattern := range d.DataPatterns {
		method, path, _ := strings.Cut(pattern, " ")
		router{s}.HandleFunc(method+" "+versionRoute+path, s.data)
	}
	return s, nil
}

// handlers has a method per operation of the generated interface.
type handlers struct{ *Server }

var _ oas.StrictServerInterface = handlers{}
