package domain

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"golang.org/x/net/publicsuffix"

	"github.com/svcctl/svcctl/internal/svc"
)

// maxDomains is the number of host names that a project may ask for.
const maxDomains = 100

// Records are the host names in the registry.
type Records interface {
	Domains(ctx context.Context, project string) ([]svc.Domain, error)
	Domain(ctx context.Context, project, host string) (svc.Domain, error)
	ProvedDomains(ctx context.Context) ([]svc.Domain, error)
	PutDomain(ctx context.Context, d svc.Domain, proof svc.DomainProof, most int) (svc.Domain, error)
	ProveDomain(ctx context.Context, project, host string, proof svc.DomainProof) (svc.Domain, error)
	MissDomain(ctx context.Context, project, host string, lost bool) (svc.Domain, error)
	RemoveDomain(ctx context.Context, project, host string) (svc.Domain, error)
}

// Gateway routes the host names.
type Gateway interface {
	SetDomain(d svc.DomainRoute)
	RemoveDomain(host string)
}

// Resolver looks DNS texts up.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Config configures a Service. Every field but Wildcards is required.
type Config struct {
	Records  Records
	Gateway  Gateway
	DNS      Resolver
	Key      svc.Secret // of the DNS texts; it must not change over restarts
	Reserved []string   // the base domain and the names of the API, in lower case
	// NoWildcards says why no wildcard can have a certificate; "" if it can.
	NoWildcards string
	Logger      *slog.Logger
}

// Service gives host names to projects. It is safe for concurrent use.
type Service struct {
	cfg Config

	mu        sync.Mutex // guards published, and makes publishing follow the registry
	published map[string]svc.DomainRoute
}

// New returns a Service. It starts nothing.
func New(cfg Config) *Service { return &Service{cfg: cfg, published: map[string]svc.DomainRoute{}} }

// List returns the host names that a project asked for or has.
//
// Errors: NotFound, project_not_found.
func (s *Service) List(ctx context.Context, project string) ([]svc.Domain, error) {
	return s.cfg.Records.Domains(ctx, project)
}

// Get returns a host name of a project.
//
// Errors: NotFound, project_not_found or domain_not_found.
func (s *Service) Get(ctx context.Context, project, host string) (svc.Domain, error) {
	return s.cfg.Records.Domain(ctx, project, normal(host))
}

// normal is the form of a host that is looked up: a malformed one is found nowhere.
func normal(host string) string {
	if h, err := svc.NormalDomain(host); err == nil {
		return h
	}
	return host
}

// Add gives d.Host to the project, or changes where it leads. With the proof operator the project has it at
// once; with dns it asks for it, and Verify proves it.
//
// Errors: NotFound, project_not_found; Unprocessable, domain_invalid, domain_reserved, domain_wildcard or
// domain_too_many; Conflict, domain_taken.
func (s *Service) Add(ctx context.Context, d svc.Domain, proof svc.DomainProof) (svc.Domain, error) {
	d, err := s.check(ctx, d)
	if err != nil {
		return svc.Domain{}, err
	}
	stored, err := s.cfg.Records.PutDomain(ctx, d, proof, maxDomains)
	if err != nil {
		return svc.Domain{}, err
	}
	return stored, s.Publish(ctx)
}

// check returns d with normal names, or an error if no project may have its host.
func (s *Service) check(ctx context.Context, d svc.Domain) (_ svc.Domain, err error) {
	if d.Host, err = svc.NormalDomain(d.Host); err != nil {
		return d, err
	}
	if err := s.reserved(d); err != nil {
		return d, err
	}
	if d.IsWildcard() && s.cfg.NoWildcards != "" {
		return d, svc.Errorf(svc.Unprocessable, svc.CodeDomainWildcard, "%s: %s", d.Host, s.cfg.NoWildcards).
			WithHint("name each host, set SVC_TLS_CERT and SVC_TLS_KEY to a certificate of %s, or end TLS in a proxy in front", d.Host)
	}
	if d.Redirect == "" {
		return d, nil
	}
	if d.Redirect, err = svc.NormalDomain(d.Redirect); err != nil {
		return d, err
	}
	return d, s.checkRedirect(ctx, d)
}

// reserved returns an error if the host belongs to this server, or is a public suffix.
func (s *Service) reserved(d svc.Domain) error {
	name := d.RecordName()[len("_svcctl."):]
	for _, own := range s.cfg.Reserved {
		if svc.IsBelow(name, own) || d.IsWildcard() && svc.IsBelow(own, name) {
			return svc.Errorf(svc.Unprocessable, svc.CodeDomainReserved, "%s belongs to this server: it has %s", d.Host, own).
				WithHint("a project has {project}.{base domain} without being asked; choose a host of another domain")
		}
	}
	if suffix, _ := publicsuffix.PublicSuffix(name); suffix == name {
		return svc.Errorf(svc.Unprocessable, svc.CodeDomainReserved, "%s is a public suffix: strangers can have names below it", name).
			WithHint("choose a host below a domain of yours")
	}
	return nil
}

// checkRedirect returns an error unless the redirect leads to another host of the project that serves.
func (s *Service) checkRedirect(ctx context.Context, d svc.Domain) error {
	refuse := func(why string) error {
		return svc.Errorf(svc.Unprocessable, svc.CodeDomainInvalid, "%s cannot lead to %s: %s", d.Host, d.Redirect, why).
			WithHint("add %s to project %s first, without a redirect", d.Redirect, d.Project)
	}
	to, err := s.cfg.Records.Domain(ctx, d.Project, d.Redirect)
	switch {
	case svc.CodeOf(err) == svc.CodeDomainNotFound:
		return refuse("the project does not have it")
	case err != nil:
		return err
	case to.Redirect != "" || d.Host == d.Redirect || to.IsWildcard() || d.Target != "":
		return refuse("a redirect leads to a host that serves production, and has no target of its own")
	}
	return nil
}

// Remove takes a host name away from a project.
//
// Errors: NotFound, project_not_found or domain_not_found; Conflict, domain_invalid if another host leads to it.
func (s *Service) Remove(ctx context.Context, project, host string) (svc.Domain, error) {
	host = normal(host)
	all, err := s.cfg.Records.Domains(ctx, project)
	if err != nil {
		return svc.Domain{}, err
	}
	for _, d := range all {
		if d.Redirect == host {
			return svc.Domain{}, svc.Errorf(svc.Conflict, svc.CodeDomainTaken, "%s leads to %s", d.Host, host).WithHint("remove %s first", d.Host)
		}
	}
	d, err := s.cfg.Records.RemoveDomain(ctx, project, host)
	if err != nil {
		return svc.Domain{}, err
	}
	return d, s.Publish(ctx)
}

// Publish makes the gateway serve the host names that projects have, and no others. Idempotent.
func (s *Service) Publish(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.cfg.Records.ProvedDomains(ctx)
	if err != nil {
		return fmt.Errorf("publishing domains: %w", err)
	}
	next := make(map[string]svc.DomainRoute, len(all))
	for _, d := range all {
		r := d.Route()
		if next[d.Host] = r; s.published[d.Host] != r {
			s.cfg.Gateway.SetDomain(r)
		}
	}
	for host := range s.published {
		if _, ok := next[host]; !ok {
			s.cfg.Gateway.RemoveDomain(host)
		}
	}
	s.published = next
	return nil
}
