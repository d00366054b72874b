package dashboard

import (
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
)

// policy is the Content-Security-Policy of each answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svcctl"

// Config has what a Dashboard needs. All fields are required, but for Client.
type Config struct {
	// API is the handler of the REST API, and of nothing else. It may be called as soon as
	// the Dashboard serves.
	API    http.Handler
	Logger *slog.Logger
	// Client returns the address of a request's client. Nil believes proxies on this machine.
	Client func(*http.Request) netip.Addr
}

// Dashboard is the handler of the dashboard's pages. It starts nothing, owns nothing that
// must be closed, and is safe for concurrent use.
type Dashboard struct {
	cfg      Config
	sessions *sessions
	attempts attempts
	pages    map[string]*template.Template
	static   map[string]file
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	now      func() time.Time
}

// New returns a Dashboard, or an error if a template or a file is broken.
func New(c Config) (*Dashboard, error) {
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	static, err := readStatic()
	if err != nil {
		return nil, err
	}
	if c.Client == nil {
		c.Client = new(clientlimit.Proxies).Client
	}
	d := &Dashboard{
		cfg: c, sessions: newSessions(), pages: pages, static: static, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), now: time.Now,
	}
	d.routes()
	return d, nil
}

// Serves reports whether a request is for the dashboard: it comes from a browser that
// shows a page or loads what a page needs. All other requests are for the API.
func (*Dashboard) Serves(r *http.Request) bool {
	p := r.URL.Path
	switch {
	case p == "/v1", strings.HasPrefix(p, "/v1/"), p == "/metrics":
		return false
	case strings.HasPrefix(p, "/-/"):
		return true
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(accept, "text/html") || strings.Contains(accept, "text/event-stream")
}

// ServeHTTP serves a request for which Serves is true.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if _, pattern := d.mux.Handler(r); pattern == "" {
		d.fail(&call{w: w, r: r}, &statusError{http.StatusNotFound, "There is no such page."})
		return
	}
	d.mux.ServeHTTP(w, r)
}

// routes names every address.
func (d *Dashboard) routes() {
	const version = "/p/{project}/v/{version}"
	d.mux.HandleFunc("GET /-/{file}", d.serveStatic)
	d.mux.HandleFunc("GET /sign-in", d.showSignIn)
	d.mux.HandleFunc("POST /sign-in", d.signIn)
	d.mux.HandleFunc("POST /sign-out", d.signOut)
	d.page("GET /-/events", d.events)
	d.page("GET /{$}", d.overview)
	d.page("GET /projects", d.projects)
	d.page("GET /p/{project}", d.versions)
	d.page("GET /p/{project}/row/{version}", d.versionRow)
	d.page("GET "+version, d.timeline)
	d.page("GET "+version+"/logs", d.versionLogs)
	d.page("GET "+version+"/logs/stream", d.followLogs)
	d.page("GET /p/{project}/logs", d.projectLogs)
	d.page("GET /p/{project}/logs/stream", d.followLogs)
	d.page("GET "+version+"/env", d.inside("env", env))
	d.page("GET "+version+"/bindings", d.inside("bindings", bindings))
	d.page("GET "+version+"/process", d.inside("process", process))
	d.page("GET "+version+"/bundle", d.inside("bundle", bundle))
	d.page("GET "+version+"/data", d.inside("data", data))
	d.page("GET "+version+"/data/{kind}/{name}", d.inside("data", data))
	d.page("GET /p/{project}/tree", d.tree)
	d.page("GET /p/{project}/promotions", d.promotions)
	d.page("GET /p/{project}/promotions/{operation}", d.promotion)
	d.page("GET /activity", d.activity)
	d.page("GET /audit", d.audit)
	d.page("GET "+serverURL, d.server)
	d.page("GET "+serverURL+"/routes", d.allRoutes)
	d.page("GET "+serverURL+"/nodes", d.nodes)
	d.page("GET "+serverURL+"/gateways", d.gateways)
	d.page("GET "+serverURL+"/leases", d.leases)
	d.page("GET "+serverURL+"/log", d.serverLog)
	d.page("GET "+serverURL+"/log/stream", d.followServerLog)
	d.change("POST /projects", d.createProject)
	d.page("GET "+version+"/promote", d.askPromote)
	d.change("POST "+version+"/promote", d.promote)
	d.page("GET "+version+"/release", d.askRelease)
	d.change("POST "+version+"/release", d.release)
	d.page("GET /p/{project}/rollback", d.askRollback)
	d.page("GET "+version+"/destroy", d.askDestroy)
	d.change("POST "+version+"/destroy", d.destroy)
	d.change("POST "+version+"/do/{action}", d.act)
	d.change("POST "+version+"/env", d.setEnv)
	d.change("POST "+version+"/data/{kind}/{name}/do/{action}", d.changeData)
	d.change("POST /p/{project}/bulk", d.bulk)
}

// maxForm is the maximum size of a form in bytes.
const maxForm = 1 << 20

// change registers a view that changes something: the request must come from a page of
// this session, and the token of the session may write.
func (d *Dashboard) change(pattern string, v view) {
	d.page(pattern, func(c *call) error {
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxForm)
		switch {
		case d.origins.Check(c.r) != nil, !c.session.valid(c.r.PostFormValue("csrf")):
			return &statusError{http.StatusForbidden, "The form is not of this session. Load the page again and repeat the change."}
		case !c.session.mayWrite():
			return errReadOnly()
		}
		return v(c)
	})
}

// open returns the session of a request. Without one it answers the request.
func (d *Dashboard) open(w http.ResponseWriter, r *http.Request) (*call, bool) {
	s := d.sessionOf(r)
	if s == nil {
		d.askToSignIn(w, r)
		return nil, false
	}
	api, err := d.apiFor(r, s.token.Reveal())
	if err != nil {
		d.fail(&call{w: w, r: r}, err)
		return nil, false
	}
	return &call{w: w, r: r, session: s, api: api}, true
}
