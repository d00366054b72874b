package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/edge/acme"
	"github.com/svcctl/svcctl/internal/edge/https"
	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/svc"
)

// The names of the sockets of https and of its redirects.
const (
	httpsSocket = "https"
	httpSocket  = "http"
)

// listenHTTPS opens the ports of https and of its redirects, if the daemon serves https.
func (l *listeners) listenHTTPS(ctx context.Context, cfg *config.Daemon, given *systemd.Set) (err error) {
	if !cfg.TLS.On() {
		return nil
	}
	if l.https, err = givenOr(given.Take(httpsSocket), cfg, func() (net.Listener, error) {
		return listenAt(ctx, cfg.ListenHost, cfg.TLS.Port, "SVC_TLS_PORT")
	}); err != nil || cfg.TLS.HTTPPort < 0 {
		return err
	}
	l.http, err = givenOr(given.Take(httpSocket), cfg, func() (net.Listener, error) {
		return listenAt(ctx, cfg.ListenHost, cfg.TLS.HTTPPort, "SVC_HTTP_PORT")
	})
	return err
}

// startCertificates reads the certificates of https.
func (d *Daemon) startCertificates(context.Context, Config) error {
	if len(d.cfg.TLS.Certs) == 0 {
		return nil
	}
	var pairs []https.Pair
	for i, cert := range d.cfg.TLS.Certs {
		pairs = append(pairs, https.Pair{Cert: cert, Key: d.cfg.TLS.Keys[i]})
	}
	files, err := https.OpenFiles(d.logger, pairs...)
	if err != nil {
		return svc.Errorf(svc.Unprocessable, svc.CodeCertificateUnusable, "SVC_TLS_CERT: %v", err).WithHint("correct SVC_TLS_CERT and SVC_TLS_KEY")
	}
	d.certs = files
	return nil
}

// startHTTPS serves https in front of the gateway and the API.
func (d *Daemon) startHTTPS(ctx context.Context) error {
	if d.listeners.https == nil {
		return nil
	}
	names := apiNames(d.cfg)
	isAPI := func(host string) bool { return slices.Contains(names, host) }
	if err := d.startOrders(ctx, isAPI); err != nil {
		return err
	}
	limits := clientLimits(d.cfg.Clients, fileLimit())
	guard := &clientlimit.Guard{
		Timeout: limits.Timeout, Gate: clientlimit.NewGate(clientlimit.Caps{Total: limits.Total, PerClient: limits.PerClient}),
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	challenge := ""
	if d.orders != nil {
		challenge = acme.Protocol
	}
	d.front = https.NewFront(https.Config{
		Certificate: d.certificate, Challenge: challenge, Gateway: d.gateway.Serve, API: d.proxies.PerClient(limits.API/2, d.api.Get()), IsAPI: isAPI,
		Guard: guard, Observe: d.metrics.Handshake, Logger: d.logger,
	}, d.listeners.https)
	d.stops.Push("HTTPS", func(ctx context.Context) error { defer end(); return d.front.Wait(ctx) })
	go func() {
		if err := d.front.Serve(ctx); err != nil {
			d.fail("HTTPS", err)
		}
	}()
	d.startRedirect()
	return nil
}

// startOrders lets an authority issue certificates for the hosts of versions and of the API.
func (d *Daemon) startOrders(ctx context.Context, isAPI func(host string) bool) (err error) {
	t := d.cfg.TLS
	if t.Email == "" {
		return nil
	}
	c := acme.Config{
		Email: t.Email, Directory: t.Directory, Bucket: d.objects.artifacts, Key: cmp.Or(d.cfg.RecoveryKey, svc.Secret(d.secrets.RecoveryKey)),
		DNS: acme.DNS(t.DNS), Domain: d.cfg.BaseDomain,
		Allowed: func(host string) bool { return d.gateway.Serves(host) || isAPI(host) },
		HTTPS:   d.listeners.https.Addr(), Observe: d.metrics.CertificateOrder, Logger: d.logger,
	}
	if d.listeners.http != nil {
		c.HTTP = d.listeners.http.Addr()
	}
	if d.orders, err = acme.New(ctx, c); err != nil {
		return err
	}
	d.stops.Push("orders of certificates", d.orders.Stop)
	return nil
}

// certificate returns the certificate for a handshake: one in a file that fits, else one from
// the authority.
func (d *Daemon) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if d.orders == nil {
		return d.certs.GetCertificate(hello)
	}
	if d.certs != nil && !slices.Contains(hello.SupportedProtos, acme.Protocol) {
		if c := d.certs.Find(hello); c != nil {
			return c, nil
		}
	}
	return d.orders.GetCertificate(hello)
}

// startRedirect sends visitors of plain HTTP to https.
func (d *Daemon) startRedirect() {
	if d.listeners.http == nil {
		return
	}
	port := 443
	if u, err := url.Parse(d.info.Gateway); err == nil && u.Port() != "" {
		port, _ = strconv.Atoi(u.Port()) // the settings have checked it
	}
	h := https.Redirect(port)
	if d.orders != nil {
		h = d.orders.Handler(h)
	}
	d.serve("redirects to https", d.listeners.http, h)
}

// apiNames are the host names at which the API is reached by https.
func apiNames(cfg *config.Daemon) []string {
	names := slices.Clone(cfg.APIHosts)
	if u, err := url.Parse(cfg.APIURL); err == nil && u.Hostname() != "" {
		names = append(names, strings.ToLower(u.Hostname()))
	}
	return names
}

// CertificateOrders returns the orders of certificates that wait, run or failed.
func (d *Daemon) CertificateOrders() []svc.CertificateOrder {
	if d.orders == nil {
		return nil
	}
	return d.orders.Orders()
}

// Certificates returns the certificates of https, those that end first at the top.
func (d *Daemon) Certificates(context.Context) ([]svc.Certificate, error) {
	var list []svc.Certificate
	if d.certs != nil {
		list = d.certs.List()
	}
	if d.orders != nil {
		list = append(list, d.orders.List()...)
	}
	slices.SortStableFunc(list, func(a, b svc.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	return list, nil
}
