package daemon

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/config"
)

// TestHostEnv: hosts get the variables to reach an external object store, none with the
// embedded one, and never secrets.
func TestHostEnv(t *testing.T) {
	network := []string{
		"HTTPS_PROXY=http://proxy:3128", "HTTP_PROXY=http://proxy:3128", "NO_PROXY=a,b", "SSL_CERT_DIR=/ca", "SSL_CERT_FILE=/ca.pem",
		"http_proxy=", "https_proxy=x=y", "no_proxy=*",
	}
	environ := append([]string{"S3_SECRET_ACCESS_KEY=secret", "SVC_ADMIN_TOKEN=secret", "PROXY=no", "HTTP_PROXY_X=no"}, network...)
	got := networkEnv(environ)
	slices.Sort(got)
	if diff := cmp.Diff(network, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	t.Setenv("SSL_CERT_FILE", "/ca.pem")
	t.Setenv("SVC_ADMIN_TOKEN", "secret")
	cfg := &config.Daemon{Environment: config.Environment{Path: "/bin", Home: "/home", Temporary: "/tmp"}}
	own := []string{"PATH=/bin", "HOME=/home", "TMPDIR=/tmp"}
	if diff := cmp.Diff(own, hostEnv(cfg, true)); diff != "" {
		t.Errorf("with the embedded store: -want +got:\n%s", diff)
	}
	if host := hostEnv(cfg, false); !slices.Equal(host[:3], own) || !slices.Contains(host, "SSL_CERT_FILE=/ca.pem") || slices.Contains(host, "SVC_ADMIN_TOKEN=secret") {
		t.Errorf("without variables: %q", host)
	}
}
