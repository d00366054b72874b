package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/versions/domain"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

func (noGateway) SetDomain(svc.DomainRoute) {}
func (noGateway) RemoveDomain(string)       {}

// texts is a DNS with one text, which the test sets.
type texts struct{ text string }

func (x *texts) LookupTXT(context.Context, string) ([]string, error) {
	if x.text == "" {
		return nil, &net.DNSError{IsNotFound: true}
	}
	return []string{x.text}, nil
}

// TestDomains: the life of own host names, and the answers of a server that serves none.
func TestDomains(t *testing.T) {
	t.Parallel()
	dns := &texts{}
	h := start(t, func(d *httpapi.Deps) {
		records := d.Projects.(domain.Records) //nolint:forcetypeassert // the registry
		d.Domains = domain.New(domain.Config{Records: records, Gateway: noGateway{}, DNS: dns, Key: "k", Reserved: []string{"ingress.local"}, Logger: slog.New(slog.DiscardHandler)})
	})
	h.project("shop")
	h.project("other")
	const path = "/v1/projects/shop/domains"
	d := decode[api.Domain](h.do(request{method: "POST", path: path, body: api.AddDomain{Host: "Shop.Example.com"}}).want(200))
	if d.Host != "shop.example.com" || !d.Proved || d.Proof != "operator" || d.URL != "http://shop.example.com:8787" || d.RecordText != "" {
		t.Errorf("%+v", d)
	}
	d = decode[api.Domain](h.do(request{method: "POST", path: path, body: api.AddDomain{Host: "*.example.org", Proof: api.AddDomainProofDNS}}).want(200))
	if d.Proved || d.RecordName != "_svcctl.example.org" || d.RecordText == "" || d.URL != "" {
		t.Errorf("%+v", d)
	}
	h.do(request{method: "POST", path: path + "/*.example.org/verify"}).wantProblem(409, "domain_not_proved")
	dns.text = d.RecordText
	if d = decode[api.Domain](h.do(request{method: "POST", path: path + "/*.example.org/verify"}).want(200)); !d.Proved || d.Proof != "dns" {
		t.Errorf("%+v", d)
	}
	if l := decode[api.DomainList](h.do(request{method: "GET", path: path}).want(200)); len(l.Items) != 2 {
		t.Errorf("%+v", l)
	}
	h.do(request{method: "POST", path: "/v1/projects/other/domains", body: api.AddDomain{Host: "shop.example.com"}}).wantProblem(409, "domain_taken")
	h.do(request{method: "POST", path: path, body: api.AddDomain{Host: "x.ingress.local"}}).wantProblem(422, "domain_reserved")
	h.do(request{method: "GET", path: path + "/shop.example.com"}).want(200)
	h.do(request{method: "GET", path: "/v1/projects/other/domains/shop.example.com"}).wantProblem(404, "domain_not_found")
	h.do(request{method: "DELETE", path: path + "/shop.example.com", token: deployToken}).wantProblem(403, "forbidden")
	h.do(request{method: "DELETE", path: path + "/shop.example.com"}).want(200)
	h.do(request{method: "DELETE", path: path + "/shop.example.com"}).wantProblem(404, "domain_not_found")
	h.do(request{method: "GET", path: "/v1/projects/absent/domains"}).wantProblem(404, "project_not_found")
	h.domainsRefused()
	asked := decode[api.Domain](h.do(request{method: "POST", path: "/v1/projects/other/domains", body: api.AddDomain{Host: "a.example.com", Proof: api.AddDomainProofDNS}}).want(200))
	dns.text = asked.RecordText
	h.do(request{method: "POST", path: "/v1/projects/other/domains/a.example.com/verify"}).wantProblem(409, "domain_taken")
	for i := range 99 {
		h.do(request{method: "POST", path: "/v1/projects/other/domains", body: api.AddDomain{Host: fmt.Sprintf("h%d.example.net", i), Proof: api.AddDomainProofDNS}}).want(200)
	}
	h.do(request{method: "POST", path: "/v1/projects/other/domains", body: api.AddDomain{Host: "more.example.net"}}).wantProblem(422, "domain_too_many")
}

// domainsRefused meets the other refusals, for projects shop and other.
func (h *harness) domainsRefused() {
	h.t.Helper()
	add := func(project string, d api.AddDomain) reply {
		return h.do(request{method: "POST", path: "/v1/projects/" + project + "/domains", body: d})
	}
	add("shop", api.AddDomain{Host: "localhost"}).wantProblem(422, "domain_invalid")
	add("absent", api.AddDomain{Host: "a.example.com"}).wantProblem(404, "project_not_found")
	h.do(request{method: "GET", path: "/v1/projects/absent/domains/a.example.com"}).wantProblem(404, "project_not_found")
	h.do(request{method: "DELETE", path: "/v1/projects/absent/domains/a.example.com"}).wantProblem(404, "project_not_found")
	h.do(request{method: "POST", path: "/v1/projects/absent/domains/a.example.com/verify"}).wantProblem(404, "project_not_found")
	h.do(request{method: "POST", path: "/v1/projects/shop/domains/a.example.com/verify"}).wantProblem(404, "domain_not_found")
	add("shop", api.AddDomain{Host: "a.example.com"}).want(200)
	add("shop", api.AddDomain{Host: "www.example.com", Redirect: "a.example.com"}).want(200)
	h.do(request{method: "DELETE", path: "/v1/projects/shop/domains/a.example.com"}).wantProblem(409, "domain_taken")
}

// TestDomainsOff: without SVC_DOMAINS=on no project has host names of its own.
func TestDomainsOff(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	if l := decode[api.DomainList](h.do(request{method: "GET", path: "/v1/projects/shop/domains"}).want(200)); len(l.Items) != 0 {
		t.Errorf("%+v", l)
	}
	for _, rq := range []request{
		{method: "POST", path: "", body: api.AddDomain{Host: "a.example.com"}},
		{method: "GET", path: "/a.example.com"},
		{method: "DELETE", path: "/a.example.com"},
		{method: "POST", path: "/a.example.com/verify"},
	} {
		rq.path = "/v1/projects/shop/domains" + rq.path
		h.do(rq).wantProblem(409, "domains_off")
	}
}

// TestDomainWithoutCertificate: a wildcard that no certificate can be ordered for is refused.
func TestDomainWithoutCertificate(t *testing.T) {
	t.Parallel()
	h := start(t, func(d *httpapi.Deps) {
		records := d.Projects.(domain.Records) //nolint:forcetypeassert // the registry
		d.Domains = domain.New(domain.Config{Records: records, Gateway: noGateway{}, DNS: &texts{}, Key: "k", NoWildcards: "no certificate", Logger: slog.New(slog.DiscardHandler)})
	})
	h.project("shop")
	h.do(request{method: "POST", path: "/v1/projects/shop/domains", body: api.AddDomain{Host: "*.example.com"}}).wantProblem(422, "domain_wildcard")
}
