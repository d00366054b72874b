package domain_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/domain"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// world is a real registry, and fakes of the gateway and of the DNS.
type world struct {
	*domain.Service

	db     *registry.DB
	mu     sync.Mutex
	routes map[string]svc.DomainRoute
	texts  map[string]string
	broken bool // the DNS does not answer
}

func (w *world) SetDomain(d svc.DomainRoute) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[d.Host] = d
}

func (w *world) RemoveDomain(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.routes, host)
}

func (w *world) LookupTXT(_ context.Context, name string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	if text := w.texts[name]; text != "" {
		return []string{"other", text}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// served returns the hosts that the gateway has.
func (w *world) served() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(w.routes)), " ")
}

// write makes the DNS have the text of a host.
func (w *world) write(d svc.Domain) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts[d.RecordName()] = w.Text(d)
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{db: registrytest.Open(t, "shop", "other"), routes: map[string]svc.DomainRoute{}, texts: map[string]string{}}
	w.Service = w.service("")
	return w
}

func (w *world) service(noWildcards string) *domain.Service {
	return domain.New(domain.Config{
		Records: w.db, Gateway: w, DNS: w, Key: "key of the test", Reserved: []string{"apps.example.net", "deploy.example.com"}, NoWildcards: noWildcards,
		Logger: slog.New(slog.DiscardHandler),
	})
}

func of(project, host string) svc.Domain { return svc.Domain{Project: project, Host: host} }

// add gives a host to a project by the word of an operator.
func (w *world) add(t *testing.T, d svc.Domain) {
	t.Helper()
	if _, err := w.Add(t.Context(), d, svc.ProofOperator); err != nil {
		t.Fatal(err)
	}
}

// TestOneOwner: of projects that ask for a host one has it, not the first that asked, and the others learn it.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	w := start(t)
	asked, err := w.Add(t.Context(), of("other", "Shop.Example.com."), svc.ProofDNS)
	if err != nil || asked.Host != "shop.example.com" || !asked.ProvedAt.IsZero() || w.served() != "" {
		t.Fatalf("%+v, %v, %q", asked, err, w.served())
	}
	w.write(asked)
	w.add(t, of("shop", "shop.example.com"))
	_, err = w.Verify(t.Context(), "other", "shop.example.com")
	registrytest.WantError(t, err, svc.Conflict, svc.CodeDomainTaken)
	_, err = w.Add(t.Context(), of("other", "shop.example.com"), svc.ProofOperator)
	registrytest.WantError(t, err, svc.Conflict, svc.CodeDomainTaken)
	registrytest.AddProject(t, w.db, "third")
	_, err = w.Add(t.Context(), of("third", "shop.example.com"), svc.ProofOperator)
	registrytest.WantError(t, err, svc.Conflict, svc.CodeDomainTaken)
	if all, err := w.List(t.Context(), "third"); err != nil || len(all) != 0 {
		t.Errorf("what was refused is there: %+v, %v", all, err)
	}
	if w.routes["shop.example.com"].Project != "shop" {
		t.Errorf("%+v", w.routes)
	}
	if _, err := w.Remove(t.Context(), "shop", "SHOP.example.com"); err != nil || w.served() != "" {
		t.Fatal(err, w.served())
	}
	if d, err := w.Verify(t.Context(), "other", "shop.example.com"); err != nil || d.Proof != svc.ProofDNS || w.served() != "shop.example.com" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestRace: of twenty projects that ask for a host at the same time one has it.
func TestRace(t *testing.T) {
	t.Parallel()
	w := start(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 20 {
		all.Go(func() {
			_, err := w.Add(t.Context(), of([]string{"shop", "other"}[i%2], "race.example.com"), svc.ProofOperator)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if svc.CodeOf(err) != svc.CodeDomainTaken {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if owned, err := w.db.ProvedDomains(t.Context()); err != nil || len(owned) != 1 || won != 10 {
		t.Errorf("%d succeeded; %+v, %v", won, owned, err)
	}
}

// TestRecord: a text proves one host for one project, and nothing else.
func TestRecord(t *testing.T) {
	t.Parallel()
	w := start(t)
	texts := map[string]bool{}
	for _, d := range []svc.Domain{of("shop", "a.example.com"), of("other", "a.example.com"), of("shop", "b.example.com"), of("shop", "*.a.example.com")} {
		texts[w.Text(d)] = true
		if name := d.RecordName(); !strings.HasPrefix(name, "_svcctl.") || strings.Contains(name, "*") {
			t.Error(name)
		}
	}
	if len(texts) != 4 {
		t.Errorf("%v", texts)
	}
	if _, err := w.Add(t.Context(), of("shop", "a.example.com"), svc.ProofDNS); err != nil {
		t.Fatal(err)
	}
	w.texts["_svcctl.a.example.com"] = w.Text(of("other", "a.example.com"))
	_, err := w.Verify(t.Context(), "shop", "a.example.com")
	registrytest.WantError(t, err, svc.Conflict, svc.CodeDomainNotProved)
	w.broken = true
	_, err = w.Verify(t.Context(), "shop", "a.example.com")
	registrytest.WantError(t, err, svc.Conflict, svc.CodeDomainNotProved)
	if w.served() != "" {
		t.Error(w.served())
	}
}

// TestReserved: no project can have a host of the server, a public suffix or a wildcard over them.
func TestReserved(t *testing.T) {
	t.Parallel()
	w := start(t)
	for host, code := range map[string]string{
		"apps.example.net": svc.CodeDomainReserved, "x.apps.example.net": svc.CodeDomainReserved, "*.apps.example.net": svc.CodeDomainReserved, "*.example.net": svc.CodeDomainReserved,
		"deploy.example.com": svc.CodeDomainReserved, "*.example.com": svc.CodeDomainReserved, "co.uk": svc.CodeDomainReserved, "*.co.uk": svc.CodeDomainReserved, "*.com": svc.CodeDomainInvalid,
		"127.0.0.1": svc.CodeDomainInvalid, "localhost": svc.CodeDomainInvalid, "a b.example.com": svc.CodeDomainInvalid,
	} {
		_, err := w.Add(t.Context(), of("shop", host), svc.ProofOperator)
		if !errors.Is(err, svc.Unprocessable) || svc.CodeOf(err) != code {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"example.net", "notapps.example.net", "shop.co.uk", "*.shop.co.uk"} {
		w.add(t, of("shop", host))
	}
	_, err := w.service("no wildcards here").Add(t.Context(), of("shop", "*.example.org"), svc.ProofOperator)
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeDomainWildcard)
	_, err = w.Add(t.Context(), of("absent", "a.example.org"), svc.ProofOperator)
	registrytest.WantError(t, err, svc.NotFound, svc.CodeProjectNotFound)
}

// TestRedirects: a redirect leads to a host of the same project that serves, which stays while it does.
func TestRedirects(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.add(t, of("other", "other.example.org"))
	w.add(t, of("shop", "example.org"))
	to := func(host, redirect string) error {
		_, err := w.Add(t.Context(), svc.Domain{Project: "shop", Host: host, Redirect: redirect}, svc.ProofOperator)
		return err
	}
	if err := to("www.example.org", "Example.org"); err != nil {
		t.Fatal(err)
	}
	for host, redirect := range map[string]string{"a.example.org": "other.example.org", "b.example.org": "absent.example.org", "c.example.org": "www.example.org", "example.org": "example.org"} {
		registrytest.WantError(t, to(host, redirect), svc.Unprocessable, svc.CodeDomainInvalid)
	}
	_, err := w.Remove(t.Context(), "shop", "example.org")
	registrytest.WantError(t, err, svc.Conflict, svc.CodeDomainTaken)
	if got := w.served(); got != "example.org other.example.org www.example.org" {
		t.Error(got)
	}
}

// TestTooMany: a project asks for a hundred hosts at most.
func TestTooMany(t *testing.T) {
	t.Parallel()
	w := start(t)
	for i := range 100 {
		if _, err := w.Add(t.Context(), of("shop", "h"+strings.Repeat("x", i%50)+strings.Repeat("y", i/50)+".example.org"), svc.ProofDNS); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Add(t.Context(), of("shop", "more.example.org"), svc.ProofDNS)
	registrytest.WantError(t, err, svc.Unprocessable, svc.CodeDomainTooMany)
	if _, err := w.Get(t.Context(), "shop", "more.example.org"); svc.CodeOf(err) != svc.CodeDomainNotFound {
		t.Error(err)
	}
}

// TestRestart: a new process publishes what the registry has, and a deleted project leaves nothing.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.add(t, of("shop", "shop.example.org"))
	w.routes = map[string]svc.DomainRoute{}
	next := w.service("")
	if err := next.Publish(t.Context()); err != nil || w.served() != "shop.example.org" {
		t.Fatal(err, w.served())
	}
	if _, err := w.db.DeleteProject(t.Context(), "shop", ""); err != nil {
		t.Fatal(err)
	}
	if err := next.Publish(t.Context()); err != nil || w.served() != "" {
		t.Fatal(err, w.served())
	}
	if _, err := next.Add(t.Context(), of("other", "shop.example.org"), svc.ProofOperator); err != nil {
		t.Error("the host of a deleted project is not free:", err)
	}
}

// TestRecheck: a host whose text is missing serves for a week more, and a DNS that does not answer changes nothing.
func TestRecheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		ask := of("shop", "shop.example.org")
		if _, err := w.Add(t.Context(), ask, svc.ProofDNS); err != nil {
			t.Fatal(err)
		}
		w.add(t, of("other", "sure.example.org"))
		w.write(ask)
		if _, err := w.Verify(t.Context(), "shop", ask.Host); err != nil {
			t.Fatal(err)
		}
		days := func(n int, want string) {
			t.Helper()
			for range n {
				time.Sleep(24 * time.Hour)
				if err := w.Recheck(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.served(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		both := "shop.example.org sure.example.org"
		days(10, both)
		text := w.texts[ask.RecordName()]
		w.texts[ask.RecordName()] = "svcctl=forged"
		days(5, both)
		w.texts[ask.RecordName()] = text
		days(1, both) // it is back, and the week begins anew
		delete(w.texts, ask.RecordName())
		days(5, both)
		w.broken = true
		days(30, both)
		w.broken = false
		days(1, "sure.example.org")
		if d, err := w.Get(t.Context(), "shop", ask.Host); err != nil || d.Proof != svc.ProofNone || d.MissingAt.IsZero() {
			t.Errorf("%+v, %v", d, err)
		}
	})
}
