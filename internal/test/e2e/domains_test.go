//go:build e2e

package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/acmetest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestDomains: an own host name gets its certificate at its first visitor, follows production through a
// release under load without a failed request, survives a kill of the server, and is refused when it is removed.
// Another one is proved by the DNS, and a third leads to it.
func TestDomains(t *testing.T) {
	t.Parallel()
	a := acmetest.Start(t, 24*time.Hour)
	d := started(t, "SVC_TLS_EMAIL=ops@example.com", "SVC_TLS_DIRECTORY="+a.Directory(), "SSL_CERT_FILE="+a.CAFile, "SVC_TLS_PORT=0", "SVC_HTTP_PORT=0",
		"SVC_DOMAINS=on", "SVC_DOMAINS_DNS="+a.Names)
	a.Ports(address(t, d.note.HTTP), address(t, d.note.HTTPS))
	v := d.deploy(ledgerDir, "--version", "v1")
	port := ofPort(t, v.ProdURL)
	c := secureClient(t, a.Roots(), d.note.HTTPS, true)
	const shop = "https://shop.own.test"
	if text, err := visit(t, c, shop+port); err == nil || a.Orders() != 0 {
		t.Errorf("a stranger: %s, %d orders", text, a.Orders())
	}
	if out := d.ok(ledgerDir, "domains", "add", "shop.own.test"); !strings.Contains(out, "leads to production of ledger") {
		t.Error(out)
	}
	if _, err := visit(t, c, shop+port); err != nil {
		t.Fatal(err)
	}
	d.proves(a)
	if text, err := visit(t, c, "https://www.own.test"+port+"/a?b=c"); err != nil || !strings.Contains(text, "https://dns.own.test"+port+"/a?b=c") {
		t.Errorf("a redirect: %s, %v", text, err)
	}
	d.releaseUnder(c, shop+port)
	d.kill()
	if !d.start() {
		t.Fatalf("the daemon ended:\n%s", d.log.String())
	}
	c = secureClient(t, a.Roots(), d.note.HTTPS, true)
	port = ofPort(t, d.ended("ledger", "v1").ProdURL)
	svctest.Succeeds(t, "the host to serve after a kill", func() error { _, err := visit(t, c, shop+port); return err })
	d.ok(ledgerDir, "domains", "remove", "shop.own.test")
	if text, err := visit(t, secureClient(t, a.Roots(), d.note.HTTPS, true), shop+port); err == nil {
		t.Errorf("a removed host: %s", text)
	}
	if out, errs, code := d.run(ledgerDir, "domains", "add", "x.e2e.test"); code == 0 || !strings.Contains(out+errs, "domain_reserved") && !strings.Contains(errs, "belongs to this server") {
		t.Errorf("a host of the server: %d %s%s", code, out, errs)
	}
}

// ofPort is the port of a URL, with its colon.
func ofPort(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if u.Port() == "" {
		return ""
	}
	return ":" + u.Port()
}

// proves proves a host by the DNS, and lets another one lead to it.
func (d *daemon) proves(a *acmetest.Authority) {
	d.t.Helper()
	host, err := d.client().AddDomain(d.t.Context(), "ledger", api.AddDomain{Host: "dns.own.test", Proof: api.AddDomainProofDNS})
	if err != nil || host.Proved {
		d.t.Fatal(host, err)
	}
	if out, errs, code := d.run(ledgerDir, "domains", "verify", "dns.own.test"); code == 0 || !strings.Contains(out+errs, host.RecordText) {
		d.t.Errorf("without its record: %d %s%s", code, out, errs)
	}
	a.SetTexts(host.RecordName, host.RecordText)
	d.ok(ledgerDir, "domains", "verify", "dns.own.test")
	d.ok(ledgerDir, "domains", "add", "www.own.test", "--redirect", "dns.own.test")
	if out := d.ok(ledgerDir, "domains", "list"); strings.Count(out, "serves") != 3 {
		d.t.Error(out)
	}
}

// releaseUnder releases a version while visitors come to a host name. None of them meets an error.
func (d *daemon) releaseUnder(c *http.Client, url string) {
	d.t.Helper()
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { done <- n }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			resp, err := c.Get(url)
			if err != nil {
				d.t.Error(err)
				return
			}
			_ = resp.Body.Close()
			if n++; resp.StatusCode >= http.StatusInternalServerError {
				d.t.Errorf("%d through %s", resp.StatusCode, url)
			}
		}
	}()
	d.ok(ledgerDir, "deploy", "--release", "--version", "v2")
	close(stop)
	if n := svctest.Wait(d.t, "the visitors", done); n == 0 {
		d.t.Error("no request was sent")
	}
}
