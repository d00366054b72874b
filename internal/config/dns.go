package config

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// DNS says how the daemon answers an authority by records in the DNS. The zero value does not.
type DNS struct {
	Provider  string     // one of dnsProviders; "" for none
	Server    string     // host:port of rfc2136; URL of acme-dns, and of Route 53 if it is not AWS's own
	User      string     // access key id of Route 53, name of the key of rfc2136, user of acme-dns
	Secret    svc.Secret // API token of Cloudflare, secret key of the others
	Algorithm string     // of the key of rfc2136
	Subdomain string     // of acme-dns
	Resolvers []string   // host:port of the name servers to ask; empty for those of the system
}

// The values of SVC_TLS_DNS.
const (
	DNSCloudflare = "cloudflare"
	DNSRoute53    = "route53"
	DNSUpdate     = "rfc2136"
	DNSACME       = "acme-dns"
)

// dnsSettings are the settings of the challenge DNS-01. The secret is parsed with the provider,
// in check.
func dnsSettings() []Setting {
	return []Setting{
		{
			Env: "SVC_TLS_DNS", Flag: "tls-dns", Help: "service that changes the DNS, so that the authority of SVC_TLS_EMAIL issues wildcard certificates: cloudflare, route53, rfc2136 (BIND, Knot, PowerDNS) or acme-dns",
			parse: func(d *Daemon, v string) (err error) {
				d.TLS.DNS.Provider, err = oneOf(v, DNSCloudflare, DNSRoute53, DNSUpdate, DNSACME)
				return err
			},
		},
		{
			Env: "SVC_TLS_DNS_SECRET", Secret: true, Help: "credential for SVC_TLS_DNS: cloudflare: API token; route53: ID:SECRET of an access key; rfc2136: ALGORITHM:NAME:KEY, as nsupdate -y takes it; acme-dns: the JSON that /register answered",
			parse: func(d *Daemon, v string) error { d.TLS.DNS.Secret = svc.Secret(v); return nil },
		},
		{
			Env: "SVC_TLS_DNS_SERVER", Help: "server of SVC_TLS_DNS: host:port for rfc2136, URL for acme-dns; for route53 the URL of another endpoint than AWS's",
			parse: func(d *Daemon, v string) error { d.TLS.DNS.Server = v; return nil },
		},
		{
			Env: "SVC_TLS_DNS_RESOLVERS", Help: "name servers that say whether a record has arrived, host:port with commas between; default: those of the system",
			parse: func(d *Daemon, v string) (err error) { d.TLS.DNS.Resolvers, err = nameServers(v); return err },
		},
	}
}

// nameServers parses addresses with port 53 as their default.
func nameServers(v string) (list []string, err error) {
	for one := range strings.SplitSeq(v, ",") {
		addr, err := nameServer(strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		list = append(list, addr)
	}
	return list, nil
}

func nameServer(v string) (string, error) {
	host, p, err := net.SplitHostPort(v)
	if err != nil {
		host, p = strings.Trim(v, "[]"), "53"
	}
	if _, bad := port(p); bad != nil || host == "" || strings.ContainsAny(host, "/ ") {
		return "", fmt.Errorf("%q is not a host with a port, such as ns1.example.com:53", v)
	}
	return net.JoinHostPort(host, p), nil
}

// check completes the settings of a provider.
func (d *DNS) check() []error {
	if d.Provider == "" {
		if d.Server != "" || d.Secret != "" || len(d.Resolvers) > 0 {
			return []error{errors.New("  SVC_TLS_DNS_SECRET, SVC_TLS_DNS_SERVER and SVC_TLS_DNS_RESOLVERS need SVC_TLS_DNS")}
		}
		return nil
	}
	var problems []error
	if err := d.readSecret(); err != nil {
		problems = append(problems, fmt.Errorf("  SVC_TLS_DNS_SECRET: %s wants %w", d.Provider, err))
	}
	if err := d.readServer(); err != nil {
		problems = append(problems, fmt.Errorf("  SVC_TLS_DNS_SERVER: %s wants %w", d.Provider, err))
	}
	return problems
}

// readServer checks the server, which a provider may need, allow or not know.
func (d *DNS) readServer() (err error) {
	switch {
	case d.Provider == DNSCloudflare && d.Server != "":
		return errors.New("none")
	case d.Provider == DNSUpdate:
		if d.Server, err = nameServer(d.Server); err != nil {
			return errors.New("the name server that takes updates, such as ns1.example.com:53")
		}
	case d.Provider == DNSACME || d.Provider == DNSRoute53 && d.Server != "":
		if d.Server, err = httpURL(d.Server); err != nil {
			return errors.New("an http or https URL, such as https://auth.example.com")
		}
	}
	return nil
}

// readSecret takes the secret apart. Its errors say what is wanted, and never what was given.
func (d *DNS) readSecret() error {
	parts := strings.Split(d.Secret.Reveal(), ":")
	switch d.Provider {
	case DNSCloudflare:
		if d.Secret == "" {
			return errors.New("an API token that may edit the zone")
		}
	case DNSRoute53:
		if len(parts) != 2 || slices.Contains(parts, "") {
			return errors.New("ID:SECRET of an access key")
		}
		d.User, d.Secret = parts[0], svc.Secret(parts[1])
	case DNSUpdate:
		if len(parts) != 3 || slices.Contains(parts, "") || notBase64(parts[2]) {
			return errors.New("ALGORITHM:NAME:KEY, such as hmac-sha256:svcctl:a2V5… with the key in base64")
		}
		d.Algorithm, d.User, d.Secret = parts[0], parts[1], svc.Secret(parts[2])
	case DNSACME:
		return d.readAccount()
	}
	return nil
}

func notBase64(v string) bool {
	_, err := base64.StdEncoding.DecodeString(v)
	return err != nil
}

// readAccount reads an account of acme-dns.
func (d *DNS) readAccount() error {
	var account struct {
		Username  string `json:"username"`
		Password  string `json:"password"`
		Subdomain string `json:"subdomain"`
	}
	if json.Unmarshal([]byte(d.Secret.Reveal()), &account) != nil || account.Username == "" || account.Password == "" || account.Subdomain == "" {
		return errors.New("the JSON that its /register answered, with username, password and subdomain")
	}
	d.User, d.Secret, d.Subdomain = account.Username, svc.Secret(account.Password), account.Subdomain
	return nil
}
