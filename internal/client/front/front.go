package front

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Target is where requests go.
type Target struct {
	Version string      // its id
	URL     *url.URL    // scheme and host:port to connect to
	Host    string      // Host header to send; "" for that of the client
	Header  http.Header // added to each request
}

// Request is one finished request.
type Request struct {
	Method, Path string // Path is without the query
	Status       int    // 0 if the client left before the answer
	Took         time.Duration
	Version      string // that answered; "" for the front itself
}

// Config configures a Front.
type Config struct {
	LiveReload bool                     // let pages reload after a switch
	Named      func(*http.Request) bool // reports requests for a version that their host names; may be nil
	Finished   func(Request)            // called after each request; may be nil. It must not block
	Logger     *slog.Logger

	// Cron runs the scheduled handler of a version and returns the outcome; the error says why it
	// is not ok. nil: requests for it go to the worker.
	Cron func(context.Context, Cron) (outcome string, err error)
}

// holdLimit is how long a request waits for a switch. A deploy that takes longer has
// a build command or an import of much data.
const holdLimit = 2 * time.Minute

// Front is the handler of the stable address. Its methods are safe for concurrent use.
type Front struct {
	cfg     Config
	gate    gate
	proxy   *httputil.ReverseProxy
	problem atomic.Pointer[Problem]
	through atomic.Pointer[Target]
	reload  broadcast
}

// New returns a Front that holds requests until the first Release.
func New(c Config) *Front {
	f := &Front{cfg: c}
	f.gate.hold()
	f.proxy = &httputil.ReverseProxy{
		Rewrite: rewrite, ModifyResponse: f.answer, FlushInterval: -1,
		Transport: newTransport(), ErrorHandler: f.failed,
		ErrorLog: slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	return f
}

// newTransport returns a transport that finds *.localhost without DNS and changes
// nothing of what it carries.
func newTransport() *http.Transport {
	return &http.Transport{DialContext: Dial, MaxIdleConnsPerHost: 256, DisableCompression: true, IdleConnTimeout: time.Minute}
}

// Dial connects to an address. Names below localhost are this machine (RFC 6761),
// whatever DNS says.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	if host, port, err := net.SplitHostPort(address); err == nil && IsLocal(host) {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	return d.DialContext(ctx, network, address)
}

// IsLocal reports whether a host name is localhost or below it.
func IsLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Hold makes new requests wait until Release.
func (f *Front) Hold() { f.gate.hold() }

// Drain waits for the requests in flight. Websockets and event streams do not count.
// It returns the cause of the end of ctx if they take longer.
func (f *Front) Drain(ctx context.Context) error { return f.gate.drain(ctx, &f.gate.inflight) }

// DrainUnanswered waits for those requests in flight whose answer has not begun, as Drain.
func (f *Front) DrainUnanswered(ctx context.Context) error {
	return f.gate.drain(ctx, &f.gate.unanswered)
}

// Switch makes t the target of requests that begin from now on, and clears the problem.
func (f *Front) Switch(t Target) {
	f.gate.turn(&t)
	f.through.Store(&t)
	f.problem.Store(nil)
	f.reload.send("reload")
}

// Reload has pages reload after a change of the target's files, and clears the problem.
func (f *Front) Reload() {
	f.problem.Store(nil)
	f.reload.send("reload")
}

// Release ends a hold.
func (f *Front) Release() { f.gate.release() }

// Show sets the problem that pages show; nil for none.
func (f *Front) Show(p *Problem) {
	if f.problem.Swap(p) != p {
		f.reload.send("reload")
	}
}

// Close ends the streams of live reload and idle connections.
func (f *Front) Close() {
	f.reload.close()
	if t, ok := f.proxy.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// ServeHTTP answers one request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, ownPath) && f.own(w, r) {
		return
	}
	c := &counted{ResponseWriter: w, began: time.Now()}
	defer func() { f.finish(c, r) }()
	target, pass, err := f.enter(r)
	switch {
	case r.Context().Err() != nil && err != nil:
		return // the client left
	case err != nil:
		writeProblem(c, r, &Problem{Title: "The version is not ready", Detail: "the request waited for " + holdLimit.String()})
		return
	}
	defer pass.leave()
	if target == nil {
		f.unready(c, r)
		return
	}
	c.pass, c.version = pass, target.Version
	if f.asksCron(r) {
		f.cron(c, r, target.Version)
		return
	}
	_ = http.NewResponseController(w).EnableFullDuplex() // an error means that it is not HTTP/1
	ctx := context.WithValue(context.WithValue(r.Context(), targetKey{}, target), clientKey{}, r.Host)
	f.proxy.ServeHTTP(c, r.WithContext(ctx))
}

// enter waits for the version of the moment. Requests for named versions do not wait.
func (f *Front) enter(r *http.Request) (*Target, pass, error) {
	if f.cfg.Named != nil && f.cfg.Named(r) {
		if t := f.through.Load(); t != nil {
			return &Target{URL: t.URL}, pass{}, nil
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), holdLimit)
	defer cancel()
	return f.gate.enter(ctx)
}

// unready answers before there is a version.
func (f *Front) unready(w http.ResponseWriter, r *http.Request) {
	p := f.problem.Load()
	if p == nil {
		p = &Problem{Title: "No version yet", Detail: "the first version is not ready"}
	}
	writeProblem(w, r, p)
}

func (f *Front) finish(c *counted, r *http.Request) {
	if f.cfg.Finished != nil {
		f.cfg.Finished(Request{Method: r.Method, Path: r.URL.Path, Status: c.status, Took: time.Since(c.began), Version: c.version})
	}
}

// answer adapts the answer of a version.
func (f *Front) answer(resp *http.Response) error {
	t, _ := resp.Request.Context().Value(targetKey{}).(*Target)
	in, _ := resp.Request.Context().Value(clientKey{}).(string)
	inward(resp, t, in)
	return f.decorate(resp)
}

type (
	targetKey struct{} // *Target of a request
	clientKey struct{} // Host header that the client sent
)

// rewrite makes the request for the target of its context.
func rewrite(pr *httputil.ProxyRequest) {
	t, _ := pr.In.Context().Value(targetKey{}).(*Target)
	pr.Out.URL.Scheme, pr.Out.URL.Host = t.URL.Scheme, t.URL.Host
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery // also what Go cannot parse
	pr.SetXForwarded()
	pr.Out.Host = pr.In.Host
	if t.Host != "" {
		pr.Out.Host = t.Host
	}
	maps.Copy(pr.Out.Header, t.Header)
	outward(pr.Out, pr.In, t)
	if wantsPage(pr.In) {
		pr.Out.Header.Del("Accept-Encoding") // what is added to pages has to be plain
	}
}

// failed answers for a version that does not answer.
func (f *Front) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client left
	}
	f.cfg.Logger.DebugContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
	writeProblem(w, r, &Problem{Title: "The version does not answer", Detail: err.Error()})
}
