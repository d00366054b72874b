package https

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

type visitorKey struct{}

// newBridge returns a handler that sends each request to the gateway by a connection of its
// own within the process. Connections are not kept: the gateway sees the address of the
// visitor, and a request is never lost on a connection that the gateway closes.
func newBridge(to *queue, log *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:       rewrite,
		FlushInterval: -1, // server-sent events
		Transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return to.dial(ctx) },
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable) // the gateway shuts down
		},
	}
}

// dial makes a connection of the gateway for the visitor of ctx.
func (q *queue) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	from, _ := ctx.Value(visitorKey{}).(net.Addr)
	if !q.put(stream{there, from}) {
		return nil, net.ErrClosed
	}
	return here, nil
}

// rewrite makes the request that the gateway would have got from the visitor itself: the
// gateway decides which headers it believes, and passes the target on byte by byte.
func rewrite(r *httputil.ProxyRequest) {
	path, query, asks := strings.Cut(r.In.RequestURI, "?")
	r.Out.URL = &url.URL{Scheme: "http", Host: r.In.Host, Path: r.In.URL.Path, RawPath: r.In.URL.RawPath, RawQuery: query, ForceQuery: asks}
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") {
		r.Out.URL.Opaque = path
	}
	r.Out.Host = r.In.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}
