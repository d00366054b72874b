package daemon

import (
	"cmp"
	"context"
	"net"
	"strings"

	"github.com/svcctl/svcctl/internal/server/versions/domain"
	"github.com/svcctl/svcctl/internal/svc"
)

// startDomains creates what gives projects own host names, if the server serves them.
func (d *Daemon) startDomains(table domain.Gateway) {
	if !d.cfg.Domains {
		return
	}
	d.domains = domain.New(domain.Config{
		Records: d.registry, Gateway: table, DNS: resolver(d.cfg.DomainsDNS), Key: cmp.Or(d.cfg.RecoveryKey, svc.Secret(d.secrets.RecoveryKey)),
		Reserved: append(apiNames(d.cfg), strings.ToLower(d.cfg.BaseDomain)), NoWildcards: d.noWildcards(), Logger: d.logger,
	})
}

// noWildcards says why a wildcard of another domain has no certificate; "" if it may have one.
func (d *Daemon) noWildcards() string {
	if t := d.cfg.TLS; t.Email == "" || len(t.Certs) > 0 {
		return ""
	}
	return "this server orders a certificate for each host, and none for a wildcard of another domain"
}

// resolver looks texts up at a name server; "" for those of the system.
func resolver(address string) *net.Resolver {
	if address == "" {
		return net.DefaultResolver
	}
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}
