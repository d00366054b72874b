package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Domains lists the own host names of a project: those that it has, and those that it asked for.
//
// Codes: project_not_found.
func (c *Client) Domains(ctx context.Context, project string) ([]api.Domain, error) {
	l, err := ask[api.DomainList](ctx, c, get("/projects/{project}/domains", project))
	return l.Items, err
}

// AddDomain gives a host name to a project, or changes where it leads.
//
// Codes: project_not_found, domains_off, domain_invalid, domain_reserved, domain_taken, domain_too_many,
// domain_wildcard.
func (c *Client) AddDomain(ctx context.Context, project string, d api.AddDomain) (api.Domain, error) {
	return ask[api.Domain](ctx, c, post("/projects/{project}/domains", project).json(d))
}

// Domain returns a host name of a project.
//
// Codes: project_not_found, domains_off, domain_not_found.
func (c *Client) Domain(ctx context.Context, project, host string) (api.Domain, error) {
	return ask[api.Domain](ctx, c, get("/projects/{project}/domains/{host}", project, host))
}

// VerifyDomain looks for the DNS text of a host name.
//
// Codes: project_not_found, domains_off, domain_not_found, domain_not_proved, domain_taken.
func (c *Client) VerifyDomain(ctx context.Context, project, host string) (api.Domain, error) {
	return ask[api.Domain](ctx, c, post("/projects/{project}/domains/{host}/verify", project, host))
}

// RemoveDomain takes a host name away from a project, and returns it as it was.
//
// Codes: project_not_found, domains_off, domain_not_found, domain_taken.
func (c *Client) RemoveDomain(ctx context.Context, project, host string) (api.Domain, error) {
	return ask[api.Domain](ctx, c, remove("/projects/{project}/domains/{host}", project, host))
}
