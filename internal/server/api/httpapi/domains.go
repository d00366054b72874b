package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Domains gives projects own host names.
type Domains interface {
	List(ctx context.Context, project string) ([]svc.Domain, error)
	Get(ctx context.Context, project, host string) (svc.Domain, error)
	Add(ctx context.Context, d svc.Domain, proof svc.DomainProof) (svc.Domain, error)
	Verify(ctx context.Context, project, host string) (svc.Domain, error)
	Remove(ctx context.Context, project, host string) (svc.Domain, error)
	// Publish makes the gateway follow the registry.
	Publish(ctx context.Context) error
	// Text returns the DNS text that proves a host.
	Text(d svc.Domain) string
}

// domains returns the service, or the error of a server without it.
func (s *Server) domains() (Domains, error) { //nolint:ireturn // a dependency
	if s.Domains == nil {
		return nil, svc.Errorf(svc.Conflict, svc.CodeDomainsOff, "this server serves no host names of other domains").WithHint("set SVC_DOMAINS=on on the server")
	}
	return s.Domains, nil
}

// ListDomains answers GET /projects/{project}/domains.
func (h handlers) ListDomains(ctx context.Context, r oas.ListDomainsRequestObject) (oas.ListDomainsResponseObject, error) {
	if _, err := h.Projects.Project(ctx, r.Project); err != nil {
		return nil, err
	}
	if h.Domains == nil {
		return oas.ListDomains200JSONResponse{Items: []api.Domain{}}, nil
	}
	all, err := h.Domains.List(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	return oas.ListDomains200JSONResponse{Items: each(all, h.domainOut)}, nil
}

// AddDomain answers POST /projects/{project}/domains.
func (h handlers) AddDomain(ctx context.Context, r oas.AddDomainRequestObject) (oas.AddDomainResponseObject, error) {
	service, err := h.domains()
	if err != nil {
		return nil, err
	}
	proof := svc.ProofOperator
	if r.Body.Proof == api.AddDomainProofDNS {
		proof = svc.ProofDNS
	}
	d, err := service.Add(ctx, svc.Domain{Project: r.Project, Host: r.Body.Host, Target: r.Body.Target, Redirect: r.Body.Redirect}, proof)
	if err != nil {
		return nil, err
	}
	return oas.AddDomain200JSONResponse(h.domainOut(d)), nil
}

// GetDomain answers GET /projects/{project}/domains/{host}.
func (h handlers) GetDomain(ctx context.Context, r oas.GetDomainRequestObject) (oas.GetDomainResponseObject, error) {
	service, err := h.domains()
	if err != nil {
		return nil, err
	}
	d, err := service.Get(ctx, r.Project, r.Host)
	if err != nil {
		return nil, err
	}
	return oas.GetDomain200JSONResponse(h.domainOut(d)), nil
}

// RemoveDomain answers DELETE /projects/{project}/domains/{host}.
func (h handlers) RemoveDomain(ctx context.Context, r oas.RemoveDomainRequestObject) (oas.RemoveDomainResponseObject, error) {
	service, err := h.domains()
	if err != nil {
		return nil, err
	}
	d, err := service.Remove(ctx, r.Project, r.Host)
	if err != nil {
		return nil, err
	}
	return oas.RemoveDomain200JSONResponse(h.domainOut(d)), nil
}

// VerifyDomain answers POST /projects/{project}/domains/{host}/verify.
func (h handlers) VerifyDomain(ctx context.Context, r oas.VerifyDomainRequestObject) (oas.VerifyDomainResponseObject, error) {
	service, err := h.domains()
	if err != nil {
		return nil, err
	}
	d, err := service.Verify(ctx, r.Project, r.Host)
	if err != nil {
		return nil, err
	}
	return oas.VerifyDomain200JSONResponse(h.domainOut(d)), nil
}

func (s *Server) domainOut(d svc.Domain) api.Domain {
	out := api.Domain{
		ProjectID: d.Project, Host: d.Host, Target: d.Target, Redirect: d.Redirect, Proved: !d.ProvedAt.IsZero(), Proof: string(d.Proof),
		CreatedAt: api.At(d.CreatedAt), ProvedAt: api.At(d.ProvedAt), CheckedAt: api.At(d.CheckedAt), MissingAt: api.At(d.MissingAt),
	}
	if !d.IsWildcard() {
		out.URL = s.Ingress.DomainURL(d.Host)
	}
	if d.Proof != svc.ProofOperator {
		out.RecordName, out.RecordText = d.RecordName(), s.Domains.Text(d)
	}
	return out
}
