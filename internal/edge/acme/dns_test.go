package acme_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/edge/acme"
	"github.com/svcctl/svcctl/internal/test/acmetest"
)

// TestWildcard: with each service that changes the DNS, the hosts of a level share one order of
// a wildcard, and a host beside the base domain has its own. No connection of the authority
// reaches the server. Nothing is left in the zone.
func TestWildcard(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]func(t *testing.T, a *acmetest.Authority) (acme.DNS, http.RoundTripper){
		"rfc2136": func(_ *testing.T, a *acmetest.Authority) (acme.DNS, http.RoundTripper) {
			return acme.DNS{Server: a.Names, User: acmetest.KeyName, Secret: acmetest.KeyText, Algorithm: acmetest.KeyAlgorithm}, nil
		},
		"acme-dns": func(t *testing.T, a *acmetest.Authority) (acme.DNS, http.RoundTripper) {
			t.Helper()
			for _, host := range []string{"acme-dns.test", "api.acme-dns-other.test"} {
				a.SetAlias("_acme-challenge."+host, "account.auth.test")
			}
			return acme.DNS{Server: fakeACMEDNS(t, a), User: "user", Secret: "password", Subdomain: "account"}, nil
		},
		"cloudflare": func(t *testing.T, a *acmetest.Authority) (acme.DNS, http.RoundTripper) {
			t.Helper()
			return acme.DNS{Secret: "token"}, fakeCloudflare(t, a)
		},
		"route53": func(t *testing.T, a *acmetest.Authority) (acme.DNS, http.RoundTripper) {
			t.Helper()
			return acme.DNS{Server: fakeRoute53(t, a), User: "AKIDEXAMPLE", Secret: "secret"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{t, &memstore.Bucket{}, acmetest.Start(t, 24*time.Hour)}
			d, transport := service(t, w.authority)
			d.Provider, d.Resolvers = name, []string{w.authority.Names}
			w.authority.Ports(nil, nil)
			s := w.startWith(func(c *acme.Config) { c.DNS, c.Transport, c.Domain = d, transport, name+".test" })
			roots := w.authority.Roots()
			var all sync.WaitGroup
			for _, host := range []string{"v1--shop", "v2--shop", "shop"} {
				all.Go(func() {
					host += "." + name + ".test"
					if leaf, err := s.shake(t, host, roots); err != nil || leaf.DNSNames[0] != "*."+name+".test" {
						t.Errorf("%s: %v, %+v", host, err, s.Orders())
					}
				})
			}
			all.Wait()
			other := "api." + name + "-other.test"
			if leaf, err := s.shake(t, other, roots); err != nil || leaf.DNSNames[0] != other {
				t.Errorf("%v, %+v", err, s.Orders())
			}
			if n := w.authority.Orders(); n != 2 {
				t.Errorf("%d orders", n)
			}
			if left := w.authority.Texts(); name != "acme-dns" && left != 0 { // acme-dns keeps the newest two
				t.Errorf("%d texts are left", left)
			}
		})
	}
}

// TestWildcardRefused: a service that refuses a change is named in the failed order, its
// credential is not.
func TestWildcardRefused(t *testing.T) {
	t.Parallel()
	w := &world{t, &memstore.Bucket{}, acmetest.Start(t, 24*time.Hour)}
	w.authority.Ports(nil, nil)
	s := w.startWith(func(c *acme.Config) {
		c.Domain, c.DNS = "refused.test", acme.DNS{
			Provider: "acme-dns", Server: fakeACMEDNS(t, w.authority), User: "user", Secret: "wrong-password", Subdomain: "account", Resolvers: []string{w.authority.Names},
		}
	})
	if _, err := s.shake(t, "one.refused.test", w.authority.Roots()); err == nil {
		t.Error("a certificate")
	}
	orders := s.Orders()
	if len(orders) != 1 || orders[0].Host != "*.refused.test" || !strings.Contains(orders[0].Error, "acme-dns: 401 Unauthorized") || strings.Contains(orders[0].Error, "wrong-password") {
		t.Errorf("%+v", orders)
	}
}

// serveHTTP starts a server on this machine and returns its URL.
func serveHTTP(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// fakeACMEDNS is acme-dns with one account, which keeps two texts.
func fakeACMEDNS(t *testing.T, a *acmetest.Authority) string {
	t.Helper()
	var texts []string
	return serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		var update struct {
			Subdomain string `json:"subdomain"`
			Txt       string `json:"txt"`
		}
		switch err := json.NewDecoder(r.Body).Decode(&update); {
		case r.Header.Get("X-Api-User") != "user" || r.Header.Get("X-Api-Key") != "password" || update.Subdomain != "account":
			http.Error(w, `{"error":"forbidden"}`, http.StatusUnauthorized)
		case err != nil || r.Method+r.URL.Path != "POST/update":
			http.Error(w, "bad", http.StatusBadRequest)
		default:
			texts = append(texts[max(0, len(texts)-1):], update.Txt)
			a.SetTexts("account.auth.test", texts...)
			fmt.Fprintf(w, `{"txt":%q}`, update.Txt)
		}
	})
}

// fakeCloudflare is the part of Cloudflare's API that changes records of the zone "test".
func fakeCloudflare(t *testing.T, a *acmetest.Authority) http.RoundTripper {
	t.Helper()
	type record struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Name    string `json:"name"`
		Content string `json:"content"`
	}
	var records []record
	publish := func(name string) {
		var texts []string
		for _, r := range records {
			if r.Name == name {
				texts = append(texts, strings.Trim(r.Content, `"`))
			}
		}
		a.SetTexts(name, texts...)
	}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, result any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "result": result})
	}
	mux.HandleFunc("GET /client/v4/zones", func(w http.ResponseWriter, r *http.Request) {
		if name := strings.TrimSuffix(r.FormValue("name"), "."); name != "test" || r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("zone %q, %s", name, r.Header.Get("Authorization"))
		}
		answer(w, []any{map[string]string{"id": "z1", "name": "test"}})
	})
	mux.HandleFunc("POST /client/v4/zones/z1/dns_records", func(w http.ResponseWriter, r *http.Request) {
		var one record
		if err := json.NewDecoder(r.Body).Decode(&one); err != nil {
			t.Error(err)
		}
		one.ID, one.Name = fmt.Sprint("r", len(records)), strings.TrimSuffix(strings.TrimSuffix(one.Name, "."), ".test")+".test"
		records = append(records, one)
		publish(one.Name)
		answer(w, one)
	})
	mux.HandleFunc("GET /client/v4/zones/z1/dns_records", func(w http.ResponseWriter, r *http.Request) {
		found := []record{}
		for _, one := range records {
			if one.Name == strings.TrimSuffix(r.FormValue("name"), ".") && strings.Contains(one.Content, r.FormValue("content.contains")) {
				found = append(found, one)
			}
		}
		answer(w, found)
	})
	mux.HandleFunc("DELETE /client/v4/zones/z1/dns_records/{id}", func(w http.ResponseWriter, r *http.Request) {
		for i, one := range records {
			if one.ID == r.PathValue("id") {
				records[i].Name = "deleted"
				publish(one.Name)
				answer(w, one)
			}
		}
	})
	origin, err := url.Parse(serveHTTP(t, mux.ServeHTTP))
	if err != nil {
		t.Fatal(err)
	}
	return redirected{origin, http.DefaultTransport}
}

// redirected sends requests for any origin to another one.
type redirected struct {
	to *url.URL

	http.RoundTripper
}

func (d redirected) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = d.to.Scheme, d.to.Host
	return d.RoundTripper.RoundTrip(r)
}

// fakeRoute53 is the part of Route 53's API that changes the texts of the zone "test.". A
// private zone has the same name.
func fakeRoute53(t *testing.T, a *acmetest.Authority) string {
	t.Helper()
	const zones = `<ListHostedZonesByNameResponse><HostedZones>
<HostedZone><Id>/hostedzone/PRIVATE</Id><Name>test.</Name><CallerReference>1</CallerReference><Config><PrivateZone>true</PrivateZone></Config></HostedZone>
<HostedZone><Id>/hostedzone/Z1</Id><Name>test.</Name><CallerReference>2</CallerReference><Config><PrivateZone>false</PrivateZone></Config></HostedZone>
</HostedZones><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems></ListHostedZonesByNameResponse>`
	sets := map[string]string{} // what the API answers for a name
	return serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "Credential=AKIDEXAMPLE/") {
			t.Errorf("not signed: %s", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "text/xml")
		switch r.Method + " " + r.URL.Path {
		case "GET /2013-04-01/hostedzonesbyname":
			fmt.Fprint(w, zones)
		case "GET /2013-04-01/hostedzone/Z1/rrset":
			fmt.Fprintf(w, `<ListResourceRecordSetsResponse><ResourceRecordSets>%s</ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>1</MaxItems></ListResourceRecordSetsResponse>`,
				sets[r.FormValue("name")])
		case "POST /2013-04-01/hostedzone/Z1/rrset", "POST /2013-04-01/hostedzone/Z1/rrset/":
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			text := string(body)
			name, set := between(text, "<Name>", "</Name>"), "<ResourceRecordSet>"+between(text, "<ResourceRecordSet>", "</ResourceRecordSet>")+"</ResourceRecordSet>"
			if action := between(text, "<Action>", "</Action>"); action == "DELETE" {
				if set != sets[name] {
					t.Errorf("%s is deleted, %s is there", set, sets[name])
				}
				delete(sets, name)
				a.SetTexts(name)
			} else {
				sets[name] = set
				a.SetTexts(name, strings.Trim(strings.ReplaceAll(between(set, "<Value>", "</Value>"), "&#34;", ""), `"`))
			}
			fmt.Fprint(w, `<ChangeResourceRecordSetsResponse><ChangeInfo><Id>/change/C1</Id><Status>PENDING</Status><SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt></ChangeInfo></ChangeResourceRecordSetsResponse>`)
		default:
			t.Errorf("%s %s", r.Method, r.URL)
			http.NotFound(w, r)
		}
	})
}

func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}
