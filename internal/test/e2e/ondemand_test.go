//go:build e2e

package e2e

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/acmetest"
)

// TestCertificatesOnDemand: a server with the address of its operator gets a certificate for a
// version and for the API at their first requests, none for other hosts, and keeps them over a
// crash.
func TestCertificatesOnDemand(t *testing.T) {
	t.Parallel()
	a := acmetest.Start(t, 24*time.Hour)
	d := started(t, "SVC_TLS_EMAIL=ops@example.com", "SVC_TLS_DIRECTORY="+a.Directory(), "SSL_CERT_FILE="+a.CAFile,
		"SVC_TLS_PORT=0", "SVC_HTTP_PORT=0", "SVC_API_HOSTS=deploy.example,other.example")
	a.Ports(address(t, d.note.HTTP), address(t, d.note.HTTPS))
	v := d.deploy(worker(t, helloConfig, map[string]string{"index.js": `export default { fetch: (r) => new Response(r.url) }`}), "--version", "v1")
	u, err := url.Parse(v.PreviewURL)
	if err != nil || u.Scheme != "https" {
		t.Fatal(v.PreviewURL, err)
	}
	c := secureClient(t, a.Roots(), d.note.HTTPS, true)
	ask := func(url, want string) {
		t.Helper()
		if text, err := visit(t, c, url); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %s, %v", url, text, err)
		}
	}
	ask(v.PreviewURL+"/a", v.PreviewURL+"/a")
	ask(v.PreviewURL+"/b", v.PreviewURL+"/b")
	ask("https://deploy.example:"+u.Port()+"/v1/health", `"ok"`)
	if text, err := visit(t, c, "https://v2.hello.e2e.test:"+u.Port()); err == nil {
		t.Errorf("a host that nothing serves: %s", text)
	}
	if text, err := visit(t, secureClient(t, nil, d.note.HTTP, false), "http://"+u.Hostname()+"/.well-known/acme-challenge/none"); err != nil || !strings.Contains(text, v.PreviewURL) {
		t.Errorf("a challenge that no authority made: %s, %v", text, err)
	}
	a.Refuse(true)
	if text, err := visit(t, c, "https://other.example:"+u.Port()); err == nil {
		t.Errorf("a host without a certificate: %s", text)
	}
	if out := d.ok(d.home, "tls", "list"); !strings.Contains(out, u.Hostname()) || !strings.Contains(out, "deploy.example") || !strings.Contains(out, "ordered again from") {
		t.Errorf("certificates:\n%s", out)
	}
	d.kill()
	if !d.start() {
		t.Fatalf("the daemon ended:\n%s", d.log.String())
	}
	c = secureClient(t, a.Roots(), d.note.HTTPS, true)
	if text, err := visit(t, c, v.PreviewURL); err != nil || !strings.Contains(text, u.Hostname()) {
		t.Errorf("after a crash: %s, %v", text, err)
	}
	if n := a.Orders(); n != 3 {
		t.Errorf("%d orders", n)
	}
}

// TestWildcardOnDemand: with a name server that takes updates, versions share a wildcard
// certificate, and the authority needs no way to the server.
func TestWildcardOnDemand(t *testing.T) {
	t.Parallel()
	a := acmetest.Start(t, 24*time.Hour)
	a.Ports(nil, nil)
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte(acmetest.KeyAlgorithm+":"+acmetest.KeyName+":"+acmetest.KeyText+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := started(t, "SVC_TLS_EMAIL=ops@example.com", "SVC_TLS_DIRECTORY="+a.Directory(), "SSL_CERT_FILE="+a.CAFile, "SVC_TLS_PORT=0", "SVC_HTTP_PORT=off",
		"SVC_PREVIEW_URL_TEMPLATE={scheme}://{version}--{project}.{baseDomain}:{port}",
		"SVC_TLS_DNS=rfc2136", "SVC_TLS_DNS_SERVER="+a.Names, "SVC_TLS_DNS_RESOLVERS="+a.Names, "SVC_TLS_DNS_SECRET_FILE="+secret)
	v := d.deploy(worker(t, helloConfig, map[string]string{"index.js": `export default { fetch: (r) => new Response(r.url) }`}), "--version", "v1")
	c := secureClient(t, a.Roots(), d.note.HTTPS, true)
	for _, url := range []string{v.PreviewURL, v.ProdURL} {
		if text, err := visit(t, c, url+"/a"); err != nil || !strings.Contains(text, url+"/a") {
			t.Errorf("%s: %s, %v", url, text, err)
		}
	}
	if n := a.Orders(); n != 1 {
		t.Errorf("%d orders", n)
	}
	if out := d.ok(d.home, "tls", "list"); !strings.Contains(out, "*.e2e.test") {
		t.Errorf("certificates:\n%s", out)
	}
	if strings.Contains(d.log.String(), acmetest.KeyText) {
		t.Error("the key is in the log")
	}
}

// address is a listener's address on this machine.
func address(t *testing.T, listens string) net.Addr {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp", listens)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// visit returns the Location and the body of an answer.
func visit(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Header.Get("Location") + string(text), err
}
