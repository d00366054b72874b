package doctor

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// limit is the time limit of one request, lookupLimit that of name servers.
const (
	limit       = 15 * time.Second
	lookupLimit = 5 * time.Second
)

// Target is an installation. Fields do not change while Run runs.
type Target struct {
	Server   string         // URL of the API
	Info     *api.Server    // nil without a token that may read it
	Hosts    []string       // host names that the gateway serves, without ports; may be empty
	Roots    *x509.CertPool // nil for those of the system
	Resolver Resolver       // net.DefaultResolver
	Now      func() time.Time
}

// Resolver finds the addresses of host names.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// check is one check of an installation.
type check struct {
	name string
	run  func(*site, context.Context) svc.Finding
	info bool // it needs Target.Info
}

func checks() []check {
	return []check{
		{"API", (*site).api, false},
		{"clock", (*site).clock, false},
		{"DNS", (*site).dns, true},
		{"TLS", (*site).tls, true},
		{"scheme", (*site).scheme, true},
		{"websocket", (*site).websocket, true},
		{"body limit", (*site).body, true},
	}
}

// Run runs all checks concurrently and returns a finding for each.
func Run(ctx context.Context, t Target) []svc.Finding {
	s := newSite(ctx, t)
	list := make([]svc.Finding, len(checks()))
	var running sync.WaitGroup
	for i, c := range checks() {
		running.Go(func() {
			list[i] = svc.Found(svc.FindingSkipped, "needs the admin token")
			if t.Info != nil || !c.info {
				list[i] = c.run(s, ctx)
			}
			list[i].Check = c.name
		})
	}
	running.Wait()
	return list
}

// site is what the checks share.
type site struct {
	Target

	random  string   // a host name that no version has
	visited *url.URL // of a host as visitors ask it, one that is served if there is one
	found   []string // addresses of random
	lookup  error    // why random has no address
	http    *http.Client
}

func newSite(ctx context.Context, t Target) *site {
	s := &site{Target: t, visited: &url.URL{}}
	if t.Info != nil {
		label := "doctor-" + strings.ToLower(rand.Text()[:8])
		s.random = strings.NewReplacer("{version}", label, "{project}", label).Replace(t.Info.PreviewURLTemplate)
		s.visit(ctx)
	}
	s.http = s.client()
	return s
}

var errOnMachine = errors.New("the gateway is for its own machine only")

// visit finds the address that visitors ask.
func (s *site) visit(ctx context.Context) {
	gateway, err := url.Parse(s.Info.GatewayURL)
	if err != nil {
		gateway = &url.URL{}
	}
	host := s.random
	if len(s.Hosts) > 0 {
		host = s.Hosts[0]
	}
	if port := gateway.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	s.visited = &url.URL{Scheme: gateway.Scheme, Host: host, Path: "/"}
	if s.onMachine() { // a name server that answers every name would lead elsewhere
		s.lookup = errOnMachine
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	s.found, s.lookup = s.Resolver.LookupHost(ctx, s.random)
}

// onMachine reports whether the gateway is for its own machine only.
func (s *site) onMachine() bool {
	u, err := url.Parse(s.Info.GatewayURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// address is where visitors connect to: by DNS, else where GATEWAY_URL leads.
func (s *site) address() string {
	port := s.visited.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[s.visited.Scheme]
	}
	if len(s.found) > 0 {
		return net.JoinHostPort(s.found[0], port)
	}
	u, err := url.Parse(s.Info.GatewayURL)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), port)
}
