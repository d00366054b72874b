package deploy

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SubmitOptions is what a create call carries beside the version.
type SubmitOptions struct {
	IdempotencyKey string // header Idempotency-Key, "" for none
	BodyHash       string // tells a retry from another request with the same key
}

// Submit accepts a version: it is pending, with a job queued, when Submit
// returns. A repeat of the same request gives the existing record [D9].
// Errors: Unprocessable for a field or the parent, NotFound project_not_found,
// Conflict version_exists, Unavailable queue_full.
// spec: POST /projects/{p}/versions.
func (s *Service) Submit(ctx context.Context, n svc.NewVersion, o SubmitOptions) (svc.Version, error) {
	if err := n.Validate(); err != nil {
		return svc.Version{}, err
	}
	if _, err := s.deps.Submissions.Project(ctx, n.Project); err != nil {
		return svc.Version{}, err
	}
	if err := s.checkHost(n); err != nil {
		return svc.Version{}, err
	}
	v, created, err := s.deps.Submissions.CreateVersion(ctx, n, CreateOptions{
		QueueMax: s.deps.QueueMax, IdempotencyKey: o.IdempotencyKey, BodyHash: o.BodyHash, Forks: s.deps.Forks,
	})
	if err != nil {
		return svc.Version{}, err
	}
	if created {
		s.routes.announce(v.Ref, v.Status)
		s.deps.Notify()
	}
	return v, nil
}

// checkHost refuses a version whose preview host cannot be a DNS name, which a
// template with one label for both ids makes of long ones [D3].
func (s *Service) checkHost(n svc.NewVersion) error {
	id := n.ID
	if id == "" {
		id = svc.GeneratedID(time.Now()) // they are all of one length
	}
	err := s.deps.Ingress.CheckHost(svc.Ref{Project: n.Project, Version: id})
	if err == nil {
		return nil
	}
	return svc.AsError(err).At("/id")
}
