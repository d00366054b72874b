// Command relay serves one worker, which listens at a unix socket, through one
// of the reverse proxies that Go programs have: the gateway's engines, and
// net/http/httputil.ReverseProxy. Nothing else runs in the process, so its
// processor time is that of the proxy.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

func main() {
	kind := flag.String("kind", "go", "go or loop (engines of the gateway), or reverseproxy")
	listen := flag.String("listen", "", "TCP address to listen at")
	socket := flag.String("socket", "", "unix socket of the worker")
	domain := flag.String("domain", "", "base domain: the worker is v1.relay.DOMAIN")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kind, *listen, *socket, *domain); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kind, listen, socket, domain string) error {
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	if kind == "reverseproxy" {
		return reverseProxy(ctx, ln, socket)
	}
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: domain, Port: 80})
	if err != nil {
		return err
	}
	g := gateway.New(gateway.Config{Ingress: ingress, Engine: gateway.Engine(kind)})
	g.SetVersion(svc.Ref{Project: "relay", Version: "v1"}, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: socket}})
	return g.Serve(ctx, ln)
}

// reverseProxy is what one writes with the standard library alone: full duplex,
// and as many spare connections as clients.
func reverseProxy(ctx context.Context, ln net.Listener, socket string) error {
	var dialer net.Dialer
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "worker"})
			r.SetXForwarded()
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{
			DisableCompression: true, MaxIdleConnsPerHost: 512,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, "unix", socket)
			},
		},
	}
	duplex := func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 can
		proxy.ServeHTTP(w, r)
	}
	server := http.Server{Handler: http.HandlerFunc(duplex), ReadHeaderTimeout: gateway.DefaultHeaderTimeout}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
