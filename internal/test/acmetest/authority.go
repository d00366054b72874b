package acmetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// RoleName is the name that Role must have in the roles of the test binary.
const RoleName = "acme"

// Authority is a running authority.
type Authority struct {
	t       testing.TB
	client  *http.Client
	origin  string
	CAFile  string         // of its own https
	CA      *x509.CertPool // the same
	Names   string         // address of its name server
	process *svctest.Process
}

// Start starts an authority whose certificates are valid for a time. It refuses to work until
// Ports is called.
func Start(t testing.TB, valid time.Duration) *Authority {
	t.Helper()
	ca := svctest.NewAuthority(t)
	cert, key := ca.Write(t, t.TempDir(), "localhost")
	p := svctest.Start(t, RoleName, cert, key, strconv.Itoa(int(valid.Seconds())))
	if !p.Await(t, "READY") {
		t.Fatal(p.Stderr())
	}
	addresses := strings.Fields(p.Lines()[0])
	_, port, err := net.SplitHostPort(addresses[1])
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}}
	t.Cleanup(transport.CloseIdleConnections)
	return &Authority{t: t, client: &http.Client{Transport: transport}, origin: "https://localhost:" + port, CAFile: ca.File(t), CA: ca.Pool(), Names: addresses[2], process: p}
}

// Directory is the URL for clients.
func (a *Authority) Directory() string { return a.origin + "/dir" }

// Ports names the addresses where the authority finds all hosts, instead of at the ports 80 and
// 443. nil is for none.
func (a *Authority) Ports(plain, secure net.Addr) {
	a.t.Helper()
	q := url.Values{}
	if secure != nil {
		q.Set("https", port(secure))
	}
	if plain != nil {
		q.Set("http", port(plain))
	}
	a.get("/test/ports?" + q.Encode())
}

func port(addr net.Addr) string {
	_, p, _ := net.SplitHostPort(addr.String()) // of a listener
	return p
}

// Orders returns the number of orders so far, refused ones included.
func (a *Authority) Orders() int {
	a.t.Helper()
	n, err := strconv.Atoi(a.get("/test/orders"))
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// Refuse makes the authority answer orders with its limit of requests, or end that.
func (a *Authority) Refuse(on bool) {
	a.t.Helper()
	a.get("/test/refuse?on=" + map[bool]string{true: "1", false: "0"}[on])
}

// SetTexts replaces the texts of a name in the zone.
func (a *Authority) SetTexts(name string, texts ...string) {
	a.t.Helper()
	a.get("/test/texts?" + url.Values{"name": {name}, "text": texts}.Encode())
}

// Texts returns the number of texts in the zone.
func (a *Authority) Texts() int {
	a.t.Helper()
	n, err := strconv.Atoi(a.get("/test/texts"))
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// SetAlias makes a name in the zone point to another one.
func (a *Authority) SetAlias(name, target string) {
	a.t.Helper()
	a.get("/test/alias?" + url.Values{"name": {name}, "target": {target}}.Encode())
}

// Roots returns what verifies the certificates. Call it after Ports.
func (a *Authority) Roots() *x509.CertPool {
	a.t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(a.get("/roots/0"))) {
		a.t.Fatal("the authority has no root")
	}
	return pool
}

func (a *Authority) get(path string) string {
	a.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(a.t.Context()), http.MethodGet, a.origin+path, http.NoBody)
	if err != nil {
		a.t.Fatal(err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%s: %s %s, %v", path, resp.Status, text, err)
	}
	return string(text)
}
