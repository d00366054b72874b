package acme

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/libdns/cloudflare"
	"github.com/libdns/rfc2136"
	"github.com/mholt/acmez/v3"
	"go.uber.org/zap"

	"github.com/svcctl/svcctl/internal/svc"
)

// DNS says how the authority is answered by records in the DNS. The zero value means: not at
// all. The settings have been checked.
type DNS struct {
	Provider  string // "cloudflare", "route53", "rfc2136" or "acme-dns"; "" for none
	Server    string // host:port of rfc2136; URL of acme-dns, and of Route 53 if it is not AWS's own
	User      string // access key id, name of the key, or user
	Secret    svc.Secret
	Algorithm string   // of the key of rfc2136
	Subdomain string   // of acme-dns
	Resolvers []string // host:port; empty for those of the system
}

const (
	// recordTTL is the time for which name servers keep an answer to the authority.
	recordTTL = time.Minute
	// requestTime is the time limit of a request to a provider.
	requestTime = 30 * time.Second
)

// provider returns the client of the service that changes the DNS. It has one user at a time.
func (d DNS) provider(transport http.RoundTripper) certmagic.DNSProvider {
	client := &http.Client{Timeout: requestTime, Transport: transport}
	switch d.Provider {
	case "cloudflare":
		return &cloudflare.Provider{APIToken: d.Secret.Reveal(), HTTPClient: client}
	case "route53":
		return newRoute53(d, client)
	case "rfc2136":
		return &rfc2136.Provider{KeyName: d.User, KeyAlg: d.Algorithm, Key: d.Secret.Reveal(), Server: d.Server}
	default:
		return &acmeDNS{d, client}
	}
}

// solver answers challenges by records; nil without a provider.
func (c *Config) solver(quiet *zap.Logger) acmez.Solver {
	if c.DNS.Provider == "" {
		return nil
	}
	return &certmagic.DNS01Solver{DNSManager: certmagic.DNSManager{
		DNSProvider: c.DNS.provider(c.Transport), TTL: recordTTL, Resolvers: c.DNS.Resolvers, Logger: quiet,
	}}
}

// subject returns the name of the certificate for a host. With records in the DNS, all hosts
// below the base domain with the same parent share a wildcard.
func (m *Manager) subject(host string) string {
	_, parent, ok := strings.Cut(host, ".")
	if m.cfg.DNS.Provider == "" || !ok || parent != m.cfg.Domain && !strings.HasSuffix(parent, "."+m.cfg.Domain) {
		return host
	}
	return "*." + parent
}

// maxRunning is the number of orders that run at the same time. Those by records in the DNS
// run one by one: an account of acme-dns keeps two records, and a provider has one user.
func (c *Config) maxRunning() int {
	if c.DNS.Provider != "" {
		return 1
	}
	return maxRunning
}
