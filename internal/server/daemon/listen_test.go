package daemon

import (
	"net"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestListenHints: the hint names the setting to change.
func TestListenHints(t *testing.T) {
	t.Parallel()
	taken, err := listenAt(t.Context(), "127.0.0.1", 0, "PLATFORM_PORT")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr, ok := taken.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", taken.Addr())
	}
	for _, tc := range []struct {
		host string
		port int
		code string
	}{{"127.0.0.1", addr.Port, "address_in_use"}, {"192.0.2.1", 0, "address_unusable"}, {"no host", 0, "address_unusable"}} {
		if l, err := listenAt(t.Context(), tc.host, tc.port, "PLATFORM_PORT"); svc.CodeOf(err) != tc.code {
			t.Errorf("%s: %v, %v, want %s", tc.host, l, err, tc.code)
		}
	}
}

// TestListenHTTPS: with https the plain ports are for this machine only.
func TestListenHTTPS(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		cfg := &config.Daemon{ListenHost: "0.0.0.0", BaseDomain: "apps.test", TLS: config.TLS{HTTPPort: -1}}
		if on {
			cfg.TLS = config.TLS{Certs: []string{"cert.pem"}}
		}
		l, err := listen(t.Context(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, one := range l.named() {
			a, ok := one.Addr().(*net.TCPAddr)
			if public := name == httpsSocket || name == httpSocket || !on; !ok || public != a.IP.IsUnspecified() {
				t.Errorf("https %v: %s listens at %s", on, name, one.Addr())
			}
		}
		if want := map[bool]int{false: 2, true: 4}[on]; len(l.named()) != want {
			t.Errorf("https %v: %d listeners", on, len(l.named()))
		}
		if got := l.gatewayURL(cfg); on && got != "https://apps.test:"+portOf(l.https) {
			t.Errorf("generated URLs have %s", got)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPublicPort: a URL has a port unless it is the default port of the public scheme.
// GATEWAY_URL without a port means that default, also behind a proxy that adds TLS.
func TestPublicPort(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ gateway, scheme, want string }{
		{"http://gw.example", "https", "https://shop.apps.test"},
		{"http://gw.example:80", "https", "https://shop.apps.test"},
		{"https://gw.example:443", "http", "http://shop.apps.test"},
		{"https://gw.example", "https", "https://shop.apps.test"},
		{"http://gw.example:443", "https", "https://shop.apps.test"},
		{"http://gw.example:8787", "http", "http://shop.apps.test:8787"},
		{"https://gw.example:8443", "https", "https://shop.apps.test:8443"},
	} {
		in, err := newIngress(&config.Daemon{BaseDomain: "apps.test", SchemePreview: tc.scheme, SchemeProd: tc.scheme}, tc.gateway)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.ProdURL("shop"); got != tc.want {
			t.Errorf("%s, %s: %s, want %s", tc.gateway, tc.scheme, got, tc.want)
		}
	}
}
