package gateway_test

import (
	"maps"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

// everyCF is what request.cf holds of every request.
func everyCF() map[string]any {
	certificate := map[string]any{"certPresented": "0", "certVerified": "NONE", "certRevoked": "0"}
	for _, name := range []string{
		"IssuerDN", "SubjectDN", "IssuerDNRFC2253", "SubjectDNRFC2253", "IssuerDNLegacy", "SubjectDNLegacy", "Serial", "IssuerSerial",
		"SKI", "IssuerSKI", "FingerprintSHA1", "FingerprintSHA256", "NotBefore", "NotAfter",
	} {
		certificate["cert"+name] = ""
	}
	return map[string]any{"httpProtocol": "HTTP/1.1", "requestPriority": "", "tlsClientAuth": certificate}
}

func withCF(more map[string]any) map[string]any {
	all := everyCF()
	maps.Copy(all, more)
	return all
}

// inBerlin is a database that knows one address.
func inBerlin(ip netip.Addr) svc.Location {
	if ip.String() != "2001:db8::7" {
		return svc.Location{}
	}
	return svc.Location{Country: "DE", EU: true, Continent: "EU", City: `Berlin "ß" 😀`, Latitude: "52.52000", Longitude: "13.40500", ASN: 64512, ASOrganization: "Example"}
}

func TestLocation(t *testing.T) { engines(t, testLocation) }

func testLocation(t *testing.T, engine gateway.Engine) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	said := map[string]string{"CF-IPCountry": "FR", "cf-ipcity": "Paris", "CF-Timezone": "Europe/Paris"}
	berlin := map[string]any{
		"country": "DE", "isEUCountry": "1", "continent": "EU", "city": `Berlin "ß" 😀`, "latitude": "52.52000", "longitude": "13.40500",
		"asn": 64512.0, "asOrganization": "Example",
	}
	for name, tc := range map[string]struct {
		cfg     gateway.Config
		send    map[string]string
		cf      map[string]any
		country string // CF-IPCountry for the worker
		ip      string // CF-Connecting-IP
	}{
		"nothing is known":      {gateway.Config{}, nil, nil, "", "127.0.0.1"},
		"a visitor's own words": {gateway.Config{TrustedProxies: []netip.Prefix{}, LocationHeaders: true}, said, nil, "", "127.0.0.1"},
		"a proxy for addresses": {gateway.Config{}, said, nil, "", "127.0.0.1"},
		"a proxy for both": {
			gateway.Config{TrustedProxies: loopback, LocationHeaders: true},
			said,
			map[string]any{"country": "FR", "city": "Paris", "timezone": "Europe/Paris"},
			"FR", "127.0.0.1",
		},
		"the database": {gateway.Config{Locate: inBerlin}, map[string]string{"X-Forwarded-For": "2001:db8::7"}, berlin, "DE", "2001:db8::7"},
		"the proxy before the database": {
			gateway.Config{TrustedProxies: loopback, LocationHeaders: true, Locate: inBerlin},
			map[string]string{"X-Forwarded-For": "2001:db8::7", "CF-IPCountry": "FR"},
			map[string]any{"country": "FR", "asn": 64512.0, "asOrganization": "Example"},
			"FR", "2001:db8::7",
		},
		"both agree": {
			gateway.Config{TrustedProxies: loopback, LocationHeaders: true, Locate: inBerlin},
			map[string]string{"CF-Connecting-IP": "2001:db8::7", "CF-IPCountry": "DE"},
			berlin, "DE", "2001:db8::7",
		},
		"no address": {
			gateway.Config{TrustedProxies: loopback, LocationHeaders: true, Locate: inBerlin},
			map[string]string{"CF-Connecting-IP": "unknown"},
			nil, "", "127.0.0.1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.cfg.Engine = engine
			b := start(t, tc.cfg)
			b.ready(shop, startWorker(t, "v1").socket)
			req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
			for k, v := range tc.send {
				req.Header.Set(k, v)
			}
			_, body := b.do(t, req)
			got := decodeSeen(t, body)
			if diff := cmp.Diff(withCF(tc.cf), got.CF); diff != "" {
				t.Error(diff)
			}
			if got.Headers["cf-ipcountry"] != tc.country || got.Headers["cf-connecting-ip"] != tc.ip {
				t.Errorf("%v", got.Headers)
			}
			if _, passed := got.Headers["cf-ipcity"]; passed != (tc.country == "FR" && tc.send["cf-ipcity"] != "") {
				t.Errorf("%v", got.Headers)
			}
		})
	}
}
