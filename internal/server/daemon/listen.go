package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/svc"
)

// listeners are the ports. They are opened before anything serves, so that an address in
// use is an error of the start.
type listeners struct {
	api, gateway net.Listener
	https, http  net.Listener // nil without https; http also without redirects
	gateways     net.Listener // for gateways on other machines; nil without. A replacement opens it anew
}

// The names of sockets that the process was started with (FileDescriptorName of systemd).
const (
	apiSocket     = "api"
	gatewaySocket = "gateway"
)

// listen opens the ports. With https, plain ones that are not given are for this machine only.
func listen(ctx context.Context, cfg *config.Daemon, given *systemd.Set) (l listeners, err error) {
	host := cfg.ListenHost
	if cfg.TLS.On() {
		host = "127.0.0.1"
	}
	if l.api, err = givenOr(given.Take(apiSocket), cfg, func() (net.Listener, error) {
		return listenAt(ctx, host, cfg.APIPort, "PLATFORM_PORT")
	}); err != nil {
		return l, err
	}
	if l.gateway, err = givenOr(given.Take(gatewaySocket), cfg, func() (net.Listener, error) {
		return listenAt(ctx, host, cfg.GatewayPort, "GATEWAY_PORT")
	}); err != nil {
		return l, errors.Join(err, l.close())
	}
	if err = l.listenHTTPS(ctx, cfg, given); err != nil {
		return l, errors.Join(err, l.close())
	}
	return l, nil
}

// givenOr returns the socket that the process was started with, or else opens one. The
// rule for addresses that other machines reach holds for both.
func givenOr(given net.Listener, cfg *config.Daemon, open func() (net.Listener, error)) (net.Listener, error) {
	if given == nil {
		return open()
	}
	a, ok := given.Addr().(*net.TCPAddr)
	if !ok || !a.IP.IsLoopback() && cfg.AdminToken == "" && cfg.TokensFile == "" {
		return nil, errors.Join(svc.Errorf(svc.Unprocessable, svc.CodeAddressUnusable, "the inherited socket at %s is reachable from outside", given.Addr()).
			WithHint("set SVC_DEPLOY_TOKEN and SVC_ADMIN_TOKEN, or let the socket listen on loopback"), given.Close())
	}
	return given, nil
}

func listenAt(ctx context.Context, host string, port int, setting string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EACCES):
		return nil, svc.Errorf(svc.Conflict, svc.CodeAddressInUse, "cannot listen at port %d", port).
			WithHint("set %s to a port that needs no rights; the packages have sockets of systemd for 443 and 80 (docs/guide/tls.md, ports below 1024)", setting).Because(err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, svc.Errorf(svc.Conflict, svc.CodeAddressInUse, "cannot listen at port %d", port).
			WithHint("set %s to a free port, or to 0 to choose one", setting).Because(err)
	case err != nil:
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeAddressUnusable, "cannot listen at %s", host).
			WithHint("set SVC_LISTEN_HOST to an address of this machine").Because(err)
	}
	return l, nil
}

// named returns the open listeners by the names of their sockets.
func (l listeners) named() map[string]net.Listener {
	all := map[string]net.Listener{apiSocket: l.api, gatewaySocket: l.gateway, httpsSocket: l.https, httpSocket: l.http}
	maps.DeleteFunc(all, func(_ string, one net.Listener) bool { return one == nil })
	return all
}

// close closes the listeners, unless a server has closed them.
func (l listeners) close() error {
	var errs []error
	all := slices.Collect(maps.Values(l.named()))
	if l.gateways != nil {
		all = append(all, l.gateways)
	}
	for _, one := range all {
		if err := one.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l listeners) apiURL() string { return origin(l.api) }

// gatewayURL returns GATEWAY_URL, or else the address of the gateway. With https that is the
// base domain.
func (l listeners) gatewayURL(cfg *config.Daemon) string {
	if cfg.GatewayURL != "" {
		return cfg.GatewayURL
	}
	if l.https != nil {
		return "https://" + strings.TrimSuffix(net.JoinHostPort(cfg.BaseDomain, portOf(l.https)), ":443")
	}
	return origin(l.gateway)
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String()) // a TCP address
	return port
}

// publicHost returns the host name of GATEWAY_URL, "" without one.
func publicHost(gatewayURL string) string {
	u, err := url.Parse(gatewayURL)
	if err != nil {
		return "" // the settings have refused it
	}
	return u.Hostname()
}

// origin returns the URL of a listener for clients on this machine.
func origin(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// newIngress returns the Ingress with the gateway's public port.
func newIngress(cfg *config.Daemon, gateway string) (*svc.Ingress, error) {
	c, err := ingressConfig(cfg, gateway)
	if err != nil {
		return nil, err
	}
	return svc.NewIngress(c)
}

// ingressConfig is the form of host names and their URLs.
func ingressConfig(cfg *config.Daemon, gateway string) (c svc.IngressConfig, err error) {
	u, err := url.Parse(gateway)
	if err != nil {
		return c, fmt.Errorf("GATEWAY_URL: %w", err)
	}
	port := 0 // the default port of the public schemes, which a proxy may change
	if p := u.Port(); p != "" && p != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		if port, err = strconv.Atoi(p); err != nil {
			return c, fmt.Errorf("GATEWAY_URL: port %q: %w", p, err)
		}
	}
	return svc.IngressConfig{
		BaseDomain: cfg.BaseDomain, SchemePreview: cfg.SchemePreview, SchemeProd: cfg.SchemeProd,
		Port: port, Template: cfg.PreviewTemplate,
	}, nil
}

// fail reports the permanent failure of a component.
func (d *Daemon) fail(name string, err error) {
	select {
	case d.failed <- fmt.Errorf("%s: %w", name, err):
	default: // a failure is reported already
	}
}
