package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/config"
)

// TestDNS: the credential of each service is taken apart.
func TestDNS(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		secret, server string
		want           config.DNS
	}{
		"cloudflare": {"token:1", "", config.DNS{Secret: "token:1"}},
		"route53":    {"AKIA:s/+=", "", config.DNS{User: "AKIA", Secret: "s/+="}},
		"rfc2136":    {"hmac-sha256:svcctl:a2V5", "ns1.example.com", config.DNS{Server: "ns1.example.com:53", Algorithm: "hmac-sha256", User: "svcctl", Secret: "a2V5"}},
		"acme-dns": {
			`{"allowfrom":[],"fulldomain":"s.auth.example.com","password":"p","subdomain":"s","username":"u"}`, "https://auth.example.com/",
			config.DNS{Server: "https://auth.example.com", User: "u", Secret: "p", Subdomain: "s"},
		},
	} {
		d, err := load(t, "SVC_TLS_EMAIL=ops@example.com", "SVC_TLS_DNS="+name, "SVC_TLS_DNS_SECRET="+tc.secret, "SVC_TLS_DNS_SERVER="+tc.server)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tc.want.Provider = name
		if diff := cmp.Diff(tc.want, d.TLS.DNS); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
