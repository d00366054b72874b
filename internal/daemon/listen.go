package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

// listeners are the two ports. They are opened before anything serves, so an
// address in use is an error of the start.
type listeners struct {
	api, gateway net.Listener
}

func listen(ctx context.Context, cfg *config.Daemon) (l listeners, err error) {
	if l.api, err = listenAt(ctx, cfg.ListenHost, cfg.APIPort, "PLATFORM_PORT"); err != nil {
		return l, err
	}
	if l.gateway, err = listenAt(ctx, cfg.ListenHost, cfg.GatewayPort, "GATEWAY_PORT"); err != nil {
		return l, errors.Join(err, l.api.Close())
	}
	return l, nil
}

func listenAt(ctx context.Context, host string, port int, setting string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EACCES):
		return nil, svc.Errorf(svc.Conflict, "address_in_use", "cannot listen at port %d", port).
			WithHint("set %s to a free port, or to 0 to choose one", setting).Because(err)
	case err != nil:
		return nil, svc.Errorf(svc.Unprocessable, "address_unusable", "cannot listen at %s", host).
			WithHint("set SVC_LISTEN_HOST to an address of this machine").Because(err)
	}
	return l, nil
}

// close is for listeners that no server took over; a second close is no error.
func (l listeners) close() error {
	var errs []error
	for _, one := range []net.Listener{l.api, l.gateway} {
		if err := one.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l listeners) apiURL() string { return origin(l.api) }

// gatewayURL is GATEWAY_URL, else the gateway's own address.
func (l listeners) gatewayURL(cfg *config.Daemon) string {
	if cfg.GatewayURL != "" {
		return cfg.GatewayURL
	}
	return origin(l.gateway)
}

// origin is the URL of a listener as seen from this machine.
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

// newIngress makes public URLs with the gateway's public port.
func newIngress(cfg *config.Daemon, gateway string) (*svc.Ingress, error) {
	u, err := url.Parse(gateway)
	if err != nil {
		return nil, fmt.Errorf("GATEWAY_URL: %w", err)
	}
	port := 80
	if u.Scheme == "https" {
		port = 443
	}
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil {
			return nil, fmt.Errorf("GATEWAY_URL: port %q: %w", p, err)
		}
	}
	return svc.NewIngress(svc.IngressConfig{
		BaseDomain: cfg.BaseDomain, SchemePreview: cfg.SchemePreview, SchemeProd: cfg.SchemeProd,
		Port: port, Template: cfg.PreviewTemplate,
	})
}

// idleTimeout is how long a connection may wait for its next request.
const idleTimeout = 2 * time.Minute

// serve runs a handler on a listener until Stop, which waits for requests under
// way.
func (d *Daemon) serve(name string, l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: slog.NewLogLogger(d.logger.Handler(), slog.LevelDebug)}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			d.fail(name, err)
		}
	}()
	d.onStop(name, func(ctx context.Context) error {
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
}

// fail reports the end of a part that must not end.
func (d *Daemon) fail(name string, err error) {
	select {
	case d.failed <- fmt.Errorf("%s: %w", name, err):
	default: // one is being reported already
	}
}
